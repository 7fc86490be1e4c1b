package arms

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"oriel/mechanisms"
	"oriel/mechanisms/dp"
	"oriel/mechanisms/mechtest"
	"oriel/mechanisms/mechtest/tiertest"
	"oriel/mechanisms/protection"
	"oriel/operators"
	"oriel/operators/actions"
	"oriel/operators/setting"
	"oriel/schemas/event"
)

// released returns the configuration of a mechanism that gives each step a release of its own.
func released(c Config, epsilon float64) mechanisms.Config {
	m := mechanisms.Config{
		Name: "once-gamma", Batch: uint64(c.Actions.Records), Budget: dp.Budget{Epsilon: epsilon},
		Terms: protection.Terms{Scope: protection.PerStep{}, Unit: protection.Event{Exchange: dp.Replace}},
	}
	_ = operator{Config: c}.Require(&m, nil)
	return m
}

func named(k int) []string {
	names := make([]string, k)
	for i := range names {
		names[i] = strconv.Itoa(i)
	}
	return names
}

// config returns a configuration with ten arms that offers as many actions as it learns from.
func config(rule string, records int, delay uint64) Config {
	return Config{
		Arms: named(10), Rule: rule, Losses: setting.Range{High: 1}, Width: 1,
		Actions: actions.Config{Records: records, Actions: records, Delay: delay},
	}
}

// open returns a machine with noise from the key, or without noise if exact.
func open(tb testing.TB, c Config, m mechanisms.Config, key byte, exact bool) *Machine {
	tb.Helper()
	stream := mechtest.Open(tb, m, [32]byte{key})
	if exact {
		stream = mechtest.Planted(tb, m, mechtest.Plan(tb, m), mechtest.Zero{})
	}
	machine, err := New(c, stream)
	if err != nil {
		tb.Fatal(err)
	}
	return machine
}

// world simulates Bernoulli arms and a client that carries out actions and reports losses. All arms but the best cost
// 0.1 more; if flips is set, the best arm changes half way. The probabilities of lost, late, doubled and forged
// feedback apply to each action.
type world struct {
	cost          float64 // mean loss of all arms except the best
	flips         bool
	lost, doubled float64
	forged        float64
	late          int // feedback comes late by at most this number of actions
}

type fed struct {
	key  string
	loss float64
	due  int
}

// regret carries out total actions and returns their regret to the best arm.
func (w world) regret(m *Machine, total int, seed uint64) float64 {
	counted := operators.ByCount(m)
	rng := rand.New(rand.NewPCG(seed, 5))
	offered, carried, records, cost := []operators.Decision(nil), 0, 0, 0
	var waiting []fed
	observe := func(made []operators.Decision) {
		for _, d := range made {
			d.Point = append([]float64(nil), d.Point...)
			offered = append(offered, d)
		}
	}
	record := func(key string, loss float64) {
		r := operators.Record{Key: []byte(key), Event: event.Event{Numbers: []float64{loss}}}
		r.Identity.Offset = int64(records)
		records++
		if made := counted.Add(nil, r); len(made) > 0 {
			if stale := len(offered) - 2*len(made); stale > 0 { // clients skip actions whose round is closed
				offered = offered[stale:]
			}
			observe(made)
		}
	}
	observe(m.Open(nil))
	for carried < total {
		if len(offered) > 0 {
			d := offered[0]
			offered = offered[1:]
			best, chance, loss := 7.0, w.cost, 0.0
			if w.flips && carried > total/2 {
				best = 2
			}
			if d.Point[0] == best {
				chance -= 0.1
			} else {
				cost++
			}
			if rng.Float64() < chance {
				loss = 1
			}
			if name := strconv.FormatUint(d.Index, 10); rng.Float64() >= w.lost {
				waiting = append(waiting, fed{name, loss, carried + rng.IntN(w.late+1)})
				if rng.Float64() < w.doubled {
					waiting = append(waiting, fed{name, 1 - loss, carried + rng.IntN(w.late+1) + 1})
				}
			}
			carried++
		}
		if rng.Float64() < w.forged {
			record("forged", 1)
		}
		rest := waiting[:0]
		for _, f := range waiting {
			if f.due > carried && len(offered) > 0 {
				rest = append(rest, f)
				continue
			}
			record(f.key, f.loss)
		}
		if waiting = rest; len(waiting) == 0 && len(offered) == 0 {
			record("", 0) // so many answers were lost that actions run out: null records let time pass
		}
	}
	return 0.1 * float64(cost)
}

// mean returns the mean regret of so many actions over several seeds; the short form uses one seed.
func (w world) mean(t *testing.T, total int, c Config, epsilon float64, exact bool) float64 {
	t.Helper()
	seeds := tiertest.Runs(1, 10)
	m, sum := released(c, epsilon), 0.0
	for seed := range seeds {
		machine := open(t, c, m, byte(seed+1), exact)
		if exact {
			switch r := machine.rule.(type) {
			case *ucbRule:
				r.noise = deviation{}
			case *exp3Rule:
				r.variance, r.noise = 0.25, deviation{}
			case *exp3UniformRule:
				r.cost = roundCost(0)
			}
		}
		sum += w.regret(machine, total, uint64(seed))
	}
	return sum / float64(seeds)
}

// TestRegretOfTenArms checks the regret with a gap of 0.1 at ε = 1 and 0.1, with losses at different places in their
// range. The limits are half above the measured regret (SPEC.md §4). For a million actions the two limits are a half
// and a sixth of the measured regret of two older methods: doubling episodes, and batches without a middle. The short
// form takes fewer actions, but so many that each limit is below the regret of uniform draws, 0.09 an action.
func TestRegretOfTenArms(t *testing.T) {
	for row, c := range []struct {
		rule          string
		records       int
		epsilon       float64
		exact         bool
		short         int
		most, longest float64
	}{
		{ucb, 1, 1, true, 30_000, 380, 850},
		{ucb, 64, 1, false, 30_000, 870, 1400},
		{ucb, 512, 0.1, false, 100_000, 4100, 5500},
		{exp3, 1, 1, true, 30_000, 380, 1200},
		{exp3, 4, 1, false, 30_000, 1070, 2500},
		{exp3, 40, 0.1, false, 100_000, 7000, 12000},
		{exp3Uniform, 2, 1, true, 30_000, 1280, 3000},
		{exp3Uniform, 4, 1, false, 50_000, 3800, 6900},
	} {
		total := tiertest.Runs(c.short, 1_000_000)
		costs := []float64{0.2, 0.5, 0.9}
		for _, cost := range tiertest.Runs(costs[row%3:row%3+1], costs) {
			most := tiertest.Runs(c.most, c.longest)
			got := world{cost: cost}.mean(t, total, config(c.rule, c.records, 0), c.epsilon, c.exact)
			t.Logf("%s, B = %d, ε = %g (none: %v), arms at %g: regret %.0f", c.rule, c.records, c.epsilon, c.exact, cost, got)
			if !(got < most) {
				t.Errorf("%s, B = %d, ε = %g, arms at %g: regret %.0f, above %.0f", c.rule, c.records, c.epsilon, cost, got, most)
			}
		}
	}
}

// TestDrawnArmsFollowAChange checks that exp3 follows losses that change. ucb, which trusts its estimates, must do
// worse.
func TestDrawnArmsFollowAChange(t *testing.T) {
	w := world{cost: 0.5, flips: true}
	total := tiertest.Runs(100_000, 1_000_000)
	fixed := 0.1 * float64(total) / 2 // regret of an arm that is best in one half only
	c, got, seeds := config(exp3, 4, 0), 0.0, tiertest.Runs(6, 10)
	for seed := range seeds {
		got += w.regret(open(t, c, released(c, 1), byte(seed+1), false), total, uint64(seed)) / float64(seeds)
	}
	// In the short form the regret of one seed is 4 240 on average, with a standard deviation of 780.
	if !(got < tiertest.Runs(1, 0.9)*fixed) {
		t.Errorf("regret %.0f, of an arm that stays %.0f", got, fixed)
	}
}

// TestFeedbackThatFails checks that lost, late, doubled and forged feedback increases the regret in proportion and has
// no other effect. Surplus actions must make up for actions whose feedback is lost.
func TestFeedbackThatFails(t *testing.T) {
	total := tiertest.Runs(100_000, 1_000_000)
	for _, rule := range []string{ucb, exp3} {
		records := map[string]int{ucb: 64, exp3: 8}[rule]
		c := config(rule, records, 4)
		c.Actions.Actions *= 2
		whole := world{cost: 0.5}.mean(t, total, c, 1, false)
		t.Logf("%s, delay of 4 steps: %.0f", rule, whole)
		for _, share := range tiertest.Runs([]float64{0.5}, []float64{0.01, 0.1, 0.5}) {
			w := world{cost: 0.5, lost: share, doubled: share, forged: share, late: records}
			got := w.mean(t, total, c, 1, false)
			t.Logf("%s, %g of each: %.0f", rule, share, got)
			if limit := 1.5*whole/(1-share)/(1-share) + 200; !(got < limit) {
				t.Errorf("%s with %g of each: regret %.0f, above %.0f; %.0f with all", rule, share, got, limit, whole)
			}
		}
	}
}

// thin plays arms with the given mean losses for so many plays, and returns the regret to the best arm.
func thin(t *testing.T, means []float64, total int, seed byte) (regret float64) {
	t.Helper()
	c := config(ucb, 64, 0)
	c.Arms = named(len(means))
	machine := open(t, c, released(c, 1), seed, false)
	rng, best := rand.New(rand.NewPCG(uint64(seed), 6)), slices.Min(means)
	counted, made := operators.ByCount(machine), machine.Open(nil)
	for play := range total {
		d, loss := made[play%c.Actions.Records], 0.0
		mean := means[int(d.Point[0])]
		regret += mean - best
		if rng.Float64() < mean {
			loss = 1
		}
		r := operators.Record{Key: strconv.AppendUint(nil, d.Index, 10), Event: event.Event{Numbers: []float64{loss}}}
		r.Identity.Offset = int64(play)
		if next := counted.Add(nil, r); len(next) > 0 {
			made = next
		}
	}
	return regret
}

// TestRegretOfThinRates checks arms whose rates are a few per cent, in losses near both ends of their range.
// Intervals with the variance of a half, ¼, lose 1.6 to 2 times as much. The limits are a tenth above the mean of 24
// seeds. No run may lose two thirds of the worst arm: with the variance at the released mean such runs come.
func TestRegretOfThinRates(t *testing.T) {
	const total = 100_000
	for _, w := range []struct {
		means []float64
		most  float64
	}{
		{[]float64{0.98, 0.98, 0.98, 0.97, 0.98, 0.98, 0.98}, 460},
		{[]float64{0.02, 0.03, 0.03, 0.03, 0.03, 0.03, 0.03}, 440},
		{[]float64{0.998, 0.99, 0.998, 0.998}, 220},
		{[]float64{0.3, 0.4, 0.5, 0.6, 0.7}, 260},
	} {
		seeds, sum := byte(tiertest.Runs(4, 24)), 0.0
		worst := (slices.Max(w.means) - slices.Min(w.means)) * total
		for seed := range seeds {
			regret := thin(t, w.means, total, seed+1)
			if sum += regret / float64(seeds); !(regret < worst*2/3) {
				t.Errorf("%v, seed %d: regret %.0f, and %.0f of the worst arm", w.means, seed, regret, worst)
			}
		}
		t.Logf("%v: regret %.0f", w.means, sum)
		if most := tiertest.Runs(1.2, 1) * w.most; !(sum < most) { // a run deviates by a sixth of the mean
			t.Errorf("%v: regret %.0f, above %.0f", w.means, sum, most)
		}
	}
}
