package bandit

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"gonum.org/v1/gonum/floats"

	"oriel/mechanisms"
	"oriel/mechanisms/mechtest/tiertest"
	"oriel/mechanisms/protection"
	"oriel/operators"
	"oriel/operators/actions"
	"oriel/operators/convex/catalogue"
	"oriel/operators/optest"
	"oriel/operators/setting"
	"oriel/schemas/event"
)

// slowBaseline computes β from all releases, all sums of directions, and the baselines that the steps used.
func slowBaseline(first, most float64, releases, along [][]float64, betas []float64) float64 {
	n := len(releases[0])
	last, means, weights, squares, steps := make([]float64, n), 0.0, 0.0, 0.0, 0.0
	for i, release := range releases {
		more := make([]float64, n)
		floats.SubTo(more, release, last)
		last = release
		if long := floats.Dot(along[i], along[i]); long > 0 {
			means += floats.Dot(more, along[i]) + betas[i]*long
			weights += long
			squares += floats.Dot(more, more)
			steps++
		}
	}
	if steps == 0 {
		return first
	}
	prior := 3 * squares / (steps * float64(n)) // a third is the variance of a uniform law on [−1, 1]
	return math.Max(-most, math.Min(most, (means+prior*first)/(weights+prior)))
}

// TestBaselinesMatchTheReference checks that the baseline in decisions follows the slow formula. Its inputs are the
// releases, the published actions, and the answers of each step.
func TestBaselinesMatchTheReference(t *testing.T) {
	for _, c := range kinds(t) {
		for _, mech := range []string{"blt", "tree-gamma"} {
			machine := open(t, c, mechanism(c, mech, 50), 5, false)
			counted := operators.ByCount(machine)
			n, first := c.Set.Dimension(), 2*c.Baseline-1
			directions, history := map[uint64][]float64{}, actions.NewHistory(c.Actions)
			var releases, along [][]float64
			betas, step, largest := []float64{first}, make([]float64, n), 0.0
			observe := func(made []operators.Decision) {
				history.Observe(made)
				for _, d := range made {
					e, _ := c.episodeOf(d.Step + 1)
					episode, around, u := machine.params.Episodes[e], make([]float64, n), slices.Clone(d.Point)
					episode.surrounded(around, machine.middle, d.Extras[0].Numbers)
					floats.AddScaled(u, -1, around)
					floats.Scale(1/episode.Smoothing, u)
					directions[d.Index] = u
				}
			}
			observe(machine.Open(nil))
			for i, e := range optest.Feedback(60, -2, 3) {
				r := operators.Record{Key: optest.ActionKey(c.Actions, i), Event: e}
				if adds := history.Next(r.Key, c.mapped(actions.Number(r))); adds.Action > 0 {
					floats.Add(step, directions[adds.Action])
				}
				made := counted.Add(nil, r)
				if len(made) == 0 {
					continue
				}
				releases, along = append(releases, slices.Clone(machine.Stream.Sum(0))), append(along, step)
				step = make([]float64, n)
				want := slowBaseline(first, machine.params.Centres, releases, along, betas)
				got := 2 * c.Losses.Centred(made[0].Extras[1].Number)
				if math.Abs(got-want) > 1e-9 {
					t.Fatalf("%s, %s, step %d: the baseline is %g, want %g", c.Set.Name(), mech, len(releases), got, want)
				}
				largest = max(largest, math.Abs(want-first))
				betas = append(betas, got)
				observe(made)
			}
			if largest < 1e-3 {
				t.Errorf("%s, %s: the baseline stays", c.Set.Name(), mech)
			}
		}
	}
}

// prices simulates the sale of three products at prices from 0 to 12. One of them is bought with probability 1 −
// price/value. A loss is minus the revenue.
type prices struct{ values []float64 }

func (w prices) earned(p []float64) (sum float64) {
	for i, x := range p {
		sum += x * max(0, 1-x/w.values[i])
	}
	return sum
}

// regret plays the rounds. Unless the baseline is found, the machine forgets its estimate before each play, so that
// losses are measured from Config.Baseline. It returns the revenue lost to the best prices, per action, and the last
// baseline.
func (w prices) regret(t *testing.T, c Config, m mechanisms.Config, found bool, key byte) (mean, beta float64) {
	t.Helper()
	machine, rng := open(t, c, m, key, false), rand.New(rand.NewPCG(uint64(key), 77))
	counted := operators.ByCount(machine)
	best := make([]float64, len(w.values))
	floats.AddScaled(best, 0.5, w.values)
	made, total := machine.Open(nil), int(c.Rounds)*c.Actions.Records
	for play := range total {
		if !found {
			clear(machine.baseline.sums)
		}
		d, loss := made[play%c.Actions.Records], 0.0
		mean += (w.earned(best) - w.earned(d.Point)) / float64(total)
		for i, x := range d.Point {
			if rng.Float64() < 1-x/w.values[i] {
				loss -= x
			}
		}
		r := operators.Record{
			Key: strconv.AppendUint(nil, d.Index, 10), Event: event.Event{Numbers: []float64{loss}},
		}
		r.Identity.Offset = int64(play)
		if next := counted.Add(nil, r); len(next) > 0 {
			made = next
		}
	}
	return mean, machine.baseline.value()
}

// TestABaselineIsFound checks the estimated baseline on prices of three products at ε = 1, over a horizon and for life.
// With the estimate the regret is nearly that of a good fixed baseline, and far below that of a baseline fixed at 0.
// The estimate ends near the mean loss.
func TestABaselineIsFound(t *testing.T) {
	box, err := catalogue.Parse(catalogue.Spec{Name: "box", Dimension: 3, Low: []string{"0"}, High: []string{"12"}})
	if err != nil {
		t.Fatal(err)
	}
	w := prices{[]float64{10, 8, 12}}
	for _, scope := range tiertest.Runs([]protection.Scope{nil}, []protection.Scope{nil, protection.Decay{Steps: 256}}) {
		mean := func(prior float64, found bool) (regret, beta float64) {
			runs := tiertest.Runs(1, 8)
			for key := range runs {
				c := Config{
					Set: box, Losses: setting.Range{Low: -30}, Baseline: prior, Lipschitz: 1, Rounds: 470,
					Shrink:    true,
					Precision: 0.1, Actions: actions.Config{Records: 128, Actions: 128},
				}
				m := mechanism(c, "blt", 1)
				if scope != nil {
					m.Scope = scope
				}
				lost, last := w.regret(t, c, m, found, byte(key+1))
				regret, beta = regret+lost/float64(runs), beta+last/float64(runs)
			}
			return regret, beta
		}
		none, _ := mean(0, false)
		good, _ := mean(0.77, false) // with this baseline, actions earn 7 of 30
		found, beta := mean(0, true)
		t.Logf("%v: regret %.3f a play without a baseline, %.3f with one that is told, %.3f with one that is found, %.2f",
			scope, none, good, found, beta)
		if !(found < 1.15*good) || !(found < 0.7*none) {
			t.Errorf("%v: regret %.3f a play without a baseline, %.3f with one that is told, %.3f with one that is found",
				scope, none, good, found)
		}
		if math.Abs(beta-0.54) > 0.25 { // three standard errors of the noise over 60 000 actions
			t.Errorf("%v: the baseline is found at %.2f, of a mean of 0.54", scope, beta)
		}
	}
}
