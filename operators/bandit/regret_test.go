package bandit

import (
	"flag"
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"oriel/mechanisms"
	"oriel/mechanisms/dp"
	"oriel/mechanisms/mechtest"
	"oriel/operators"
	"oriel/operators/convex"
	"oriel/operators/plays"
	"oriel/schemas"
)

var long = flag.Bool("long", false, "play a million times, of more seeds")

func set(tb testing.TB, name string, n int, radius float64) convex.Set {
	tb.Helper()
	s, err := convex.Parse(convex.Spec{Name: name, Dimension: n, Radius: radius})
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

// paper is PrivateBandit of so many plays on the ball of diameter 1, losses clipped to what they can be: √T rounds of
// √T plays, which leave the ball.
func paper(tb testing.TB, n int, total float64) Config {
	tb.Helper()
	batch := int(math.Sqrt(total))
	c := Config{
		Set: set(tb, "l2-ball", n, 0.5), High: 1, Lipschitz: 1, Horizon: uint64(math.Ceil(total / float64(batch))),
		Plays: plays.Config{Records: batch, Plays: batch},
	}
	c.High = 1 + c.NewPlan().Episodes[0].Smoothing
	return c
}

// mechanism is of all there is: every round is in the window.
func mechanism(c Config, name string, epsilon float64) mechanisms.Config {
	m := mechanisms.Config{
		Name: name, Window: c.Horizon, Horizon: c.Horizon, Batch: uint64(c.Plays.Records),
		Budget: dp.Budget{Epsilon: epsilon, Delta: 1e-6}, Adjacency: dp.Replace,
	}
	if facts, _ := mechanisms.FactsOf(name); facts.Tree {
		for m.Window = 1; m.Window < c.Horizon; {
			m.Window *= 2
		}
	}
	_ = configured{Config: c}.Mechanism(&m, nil)
	return m
}

func open(tb testing.TB, c Config, m mechanisms.Config, key byte, exact bool) *Machine {
	tb.Helper()
	stream := mechtest.Open(tb, m, [32]byte{key})
	if exact {
		stream = mechtest.Planted(tb, m, mechtest.Plan(tb, m), mechtest.Zero{})
	}
	machine, err := New(c, c.NewPlan(), stream)
	if err != nil {
		tb.Fatal(err)
	}
	return machine
}

// regret plays ½|x − z_t|², z_t = c + U(±0.1) with |c| = 0.3, and answers each play at once. It returns what was lost
// on the best fixed point, per play.
func regret(m *Machine, total int, seed uint64) float64 {
	rng := rand.New(rand.NewPCG(seed, 9))
	n := len(m.start)
	c := make([]float64, n)
	length := 0.0
	for i := range c {
		c[i] = rng.NormFloat64()
		length += c[i] * c[i]
	}
	for i := range c {
		c[i] *= 0.3 / math.Sqrt(length)
	}
	type offer struct {
		index uint64
		point []float64
	}
	var todo []offer
	hear := func(made []operators.Decision) {
		for _, d := range made {
			todo = append(todo, offer{d.Index, append([]float64(nil), d.Point...)})
		}
	}
	hear(m.Open(nil))
	lost, mean, squares := 0.0, make([]float64, n), 0.0
	var key []byte
	var made []operators.Decision
	for t := range total {
		play := todo[0]
		todo = todo[1:]
		loss := 0.0
		for i, x := range play.point {
			z := c[i] + 0.2*rng.Float64() - 0.1
			loss += (x - z) * (x - z) / 2
			mean[i] += z / float64(total)
			squares += z * z / 2
		}
		lost += loss
		key = strconv.AppendUint(key[:0], play.index, 10)
		r := operators.Record{Key: key, Event: schemas.Event{Numbers: []float64{loss}}}
		r.Identity.Offset = int64(t)
		if made = m.Add(made[:0], r); len(made) > 0 {
			todo = todo[:0]
			hear(made)
		}
	}
	best := squares
	for _, x := range mean {
		best -= float64(total) * x * x / 2
	}
	return (lost - best) / float64(total)
}

// TestRegretBesideNoPrivacy: with the paper's ζ and η, noise of blt over the rounds costs a third of regret at most at
// T = 10⁵, and a tenth at 10⁶; exact Gaussian noise of a tree at most doubles it at 10⁶.
func TestRegretBesideNoPrivacy(t *testing.T) {
	total, seeds, limit, tree := 100_000, 4, 1.3, 3.5
	if *long {
		total, limit, tree = 1_000_000, 1.1, 2.0
	}
	for _, n := range []int{2, 4} {
		c := paper(t, n, float64(total))
		mean := func(name string, exact bool) (sum float64) {
			m := mechanism(c, name, 1)
			for seed := range seeds {
				sum += regret(open(t, c, m, byte(seed+1), exact), total, uint64(seed)) / float64(seeds)
			}
			return sum
		}
		none := mean("blt", true)
		for name, most := range map[string]float64{"blt": limit, "tree-gaussian": tree} {
			got := mean(name, false)
			t.Logf("n = %d, T = %d, %s: regret %.4f a play, %.4f without noise: %.2f times", n, total, name, got, none, got/none)
			if !(got < most*none) {
				t.Errorf("n = %d, T = %d, %s: regret %.4f a play, above %.2f times the %.4f without noise", n, total, name, got, most, none)
			}
		}
	}
}
