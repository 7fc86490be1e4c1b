package bandit

import (
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"gonum.org/v1/gonum/floats"

	"oriel/mechanisms"
	"oriel/mechanisms/dp"
	"oriel/mechanisms/mechtest"
	"oriel/mechanisms/mechtest/tiertest"
	"oriel/mechanisms/protection"
	"oriel/operators"
	"oriel/operators/actions"
	"oriel/operators/convex"
	"oriel/operators/convex/catalogue"
	"oriel/operators/setting"
	"oriel/schemas/event"
)

// seeds returns the number of seeds over which regret is averaged.
func seeds() int { return tiertest.Runs(1, 4) }

func set(tb testing.TB, name string, n int, radius float64) convex.Set {
	tb.Helper()
	s, err := catalogue.Parse(catalogue.Spec{Name: name, Dimension: n, Radius: radius})
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

// paper returns PrivateBandit with the given number of actions on the ball of diameter 1: √T rounds of √T actions,
// which may leave the ball. Losses are clipped to their exact range.
func paper(tb testing.TB, n int, total float64) Config {
	tb.Helper()
	batch := int(math.Sqrt(total))
	c := Config{
		Set: set(tb, "l2-ball", n, 0.5), Losses: setting.Range{High: 1},
		Lipschitz: 1, Rounds: uint64(math.Ceil(total / float64(batch))),
		Actions: actions.Config{Records: batch, Actions: batch},
	}
	c.Losses.High = 1 + c.NewParams().Episodes[0].Smoothing
	return c
}

// mechanism returns a mechanism whose window holds every round.
func mechanism(c Config, name string, epsilon float64) mechanisms.Config {
	facts, _ := mechanisms.FactsOf(name)
	m := mechanisms.Config{
		Name: name, Batch: uint64(c.Actions.Records), Budget: dp.Budget{Epsilon: epsilon, Delta: 1e-6},
		Terms: protection.Terms{
			Scope: protection.Lifetime{Steps: c.Rounds, Within: c.Rounds}.RoundedUp(facts.AtNodes()),
			Unit:  protection.Event{Exchange: dp.Replace},
		},
	}
	_ = operator{Config: c}.Require(&m, nil)
	return m
}

func open(tb testing.TB, c Config, m mechanisms.Config, key byte, exact bool) *Machine {
	tb.Helper()
	return opened(tb, c, c.NewParams(), m, key, exact)
}

func opened(tb testing.TB, c Config, p Params, m mechanisms.Config, key byte, exact bool) *Machine {
	tb.Helper()
	stream := mechtest.Open(tb, m, [32]byte{key})
	if exact {
		stream = mechtest.Planted(tb, m, mechtest.Plan(tb, m), mechtest.Zero{})
	}
	machine, err := New(c, p, stream)
	if err != nil {
		tb.Fatal(err)
	}
	return machine
}

// world answers actions with the loss ½|x − z_t|², where z_t = c + U(±0.1) and |c| = 0.3. Its fields are the
// probabilities, for each action, of lost, late, doubled and forged answers. A zero world answers each action at once,
// and its feedback never fails.
type world struct {
	lost, doubled, forged float64
	late                  int // feedback comes late by at most this number of actions
}

// offer is a published action with its answer, if it is answered.
type offer struct {
	index uint64
	point []float64
	loss  float64
	due   int
}

// regret carries out total actions. It returns the regret to the best fixed point, per action.
func (w world) regret(tb testing.TB, m *Machine, total int, seed uint64) float64 {
	counted := operators.ByCount(m)
	tb.Helper()
	rng, fate := rand.New(rand.NewPCG(seed, 9)), rand.New(rand.NewPCG(seed, 10))
	n := len(m.middle)
	c := make([]float64, n)
	length := 0.0
	for i := range c {
		c[i] = rng.NormFloat64()
		length += c[i] * c[i]
	}
	for i := range c {
		c[i] *= 0.3 / math.Sqrt(length)
	}
	var todo, waiting []offer
	indices, records := uint64(0), int64(0)
	observe := func(made []operators.Decision) {
		for _, d := range made {
			if indices++; d.Index != indices {
				tb.Fatalf("play %d comes as number %d", d.Index, indices)
			}
			todo = append(todo, offer{index: d.Index, point: append([]float64(nil), d.Point...)})
		}
	}
	var key []byte
	var made []operators.Decision
	record := func(name uint64, loss float64) {
		key = strconv.AppendUint(key[:0], name, 10)
		r := operators.Record{Key: key, Event: event.Event{Numbers: []float64{loss}}}
		r.Identity.Offset = records
		records++
		if made = counted.Add(made[:0], r); len(made) > 0 {
			if stale := len(todo) - 2*len(made); stale > 0 { // clients skip actions whose round is closed
				todo = todo[stale:]
			}
			observe(made)
		}
	}
	observe(m.Open(nil))
	lost, mean, squares, carried := 0.0, make([]float64, n), 0.0, 0
	for carried < total {
		if len(todo) > 0 {
			play := todo[0]
			todo = todo[1:]
			for i, x := range play.point {
				z := c[i] + 0.2*rng.Float64() - 0.1
				play.loss += (x - z) * (x - z) / 2
				mean[i] += z / float64(total)
				squares += z * z / 2
			}
			lost += play.loss
			if fate.Float64() >= w.lost {
				play.due = carried + fate.IntN(w.late+1)
				waiting = append(waiting, play)
				if fate.Float64() < w.doubled {
					play.loss, play.due = 0, play.due+1
					waiting = append(waiting, play)
				}
			}
			carried++
		}
		if fate.Float64() < w.forged {
			record(indices+1e9, 1)
		}
		rest := waiting[:0]
		for _, x := range waiting {
			if x.due > carried && len(todo) > 0 {
				rest = append(rest, x)
				continue
			}
			record(x.index, x.loss)
		}
		if waiting = rest; carried < total && len(waiting) == 0 && len(todo) == 0 {
			record(0, 0) // so many answers were lost that actions run out: null records let time pass
		}
	}
	best := squares
	for _, x := range mean {
		best -= float64(total) * x * x / 2
	}
	return (lost - best) / float64(total)
}

// answered returns the mean regret over several seeds.
func (w world) answered(tb testing.TB, c Config, name string, exact bool, total, seeds int) (mean float64) {
	tb.Helper()
	return w.under(tb, c, mechanism(c, name, 1), exact, total, seeds)
}

func (w world) under(tb testing.TB, c Config, m mechanisms.Config, exact bool, total, seeds int) (mean float64) {
	tb.Helper()
	for seed := range seeds {
		mean += w.regret(tb, open(tb, c, m, byte(seed+1), exact), total, uint64(seed)) / float64(seeds)
	}
	return mean
}

// TestRegretComparedWithNoPrivacy compares regret with and without noise, at the paper's ζ and η. With blt, noise
// increases the regret by at most a tenth at T = 10⁶ and by at most two fifths at T = 5·10⁴. Exact Gaussian noise of a
// tree at most doubles the regret at T = 10⁶.
func TestRegretComparedWithNoPrivacy(t *testing.T) {
	total, limit, tree := tiertest.Runs(50_000, 1_000_000), tiertest.Runs(1.4, 1.1), tiertest.Runs(3.5, 2.0)
	for _, n := range []int{2, 4} {
		c := paper(t, n, float64(total))
		mean := func(name string, exact bool) float64 { return world{}.answered(t, c, name, exact, total, seeds()) }
		none := mean("blt", true)
		for name, most := range map[string]float64{"blt": limit, "tree-gaussian": tree} {
			got := mean(name, false)
			t.Logf("n = %d, T = %d, %s: regret %.4f a play, %.4f without noise: %.2f times", n, total, name, got, none, got/none)
			if !(got < most*none) {
				t.Errorf("n = %d, T = %d, %s: regret %.4f a play, above %.2f times the %.4f without noise",
					n, total, name, got, most, none)
			}
		}
	}
}

// TestAQuarterOfTheInnerRadiusLosesLess checks the default of ζ: with half of the inner radius plays lose more, because
// centres are farther from the edge, where linear costs are least.
func TestAQuarterOfTheInnerRadiusLosesLess(t *testing.T) {
	for _, s := range []convex.Set{set(t, "simplex", 8, 1), set(t, "l2-ball", 6, 1)} {
		lost := func(quarters float64) (mean float64) {
			const runs, rounds, batch = 3, 800, 64
			for key := range byte(runs) {
				c := Config{
					Set: s, Losses: setting.Range{High: 1}, Baseline: 0.5, Lipschitz: 1, Rounds: rounds, Shrink: true,
					Actions: actions.Config{Records: batch, Actions: batch},
				}
				c.Smoothing = quarters * c.episode(rounds*batch).Smoothing
				mean += linearLoss(t, c, key+1) / runs
			}
			return mean
		}
		quarter, half := lost(1), lost(2)
		t.Logf("%s: loss %.3f of the range a play with a quarter, %.3f with half", s.Name(), quarter, half)
		if quarter > 0.95*half {
			t.Errorf("%s: loss %.3f of the range a play with a quarter, %.3f with half", s.Name(), quarter, half)
		}
	}
}

// linearLoss plays against random linear costs from 0 to 1 at ε = 1, and returns the mean cost of a play.
func linearLoss(t *testing.T, c Config, key byte) (mean float64) {
	t.Helper()
	machine, rng := open(t, c, mechanism(c, "blt", 1), key, false), rand.New(rand.NewPCG(uint64(key), 7))
	n, oracle := c.Set.Dimension(), convex.NewLinearOracle(c.Set)
	costs, gains, low, high := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	for i := range costs {
		costs[i] = rng.Float64()
		gains[i] = -costs[i]
	}
	oracle.Minimise(low, costs)
	oracle.Minimise(high, gains)
	least, most := floats.Dot(low, costs), floats.Dot(high, costs)
	counted, made, total := operators.ByCount(machine), machine.Open(nil), int(c.Rounds)*c.Actions.Records
	for play := range total {
		d, cost := made[play%c.Actions.Records], 0.0
		expected := (floats.Dot(d.Point, costs) - least) / (most - least)
		mean += expected / float64(total)
		if rng.Float64() < expected {
			cost = 1
		}
		r := operators.Record{Key: strconv.AppendUint(nil, d.Index, 10), Event: event.Event{Numbers: []float64{cost}}}
		r.Identity.Offset = int64(play)
		if next := counted.Add(nil, r); len(next) > 0 {
			made = next
		}
	}
	return mean
}
