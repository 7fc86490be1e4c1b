package submodular

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"oriel/mechanisms"
	"oriel/mechanisms/dp"
	"oriel/mechanisms/mechtest"
	"oriel/mechanisms/noise"
	"oriel/mechanisms/protection"
	"oriel/operators"
	"oriel/operators/optest"
)

// pure returns tree-gamma over a complete stream, at pure ε.
func pure(events int, epsilon float64) mechanisms.Config {
	m := optest.Window("tree-gamma")
	m.Scope, m.Budget.Epsilon = protection.Lifetime{Steps: uint64(events), Within: uint64(events)}.RoundedUp(true), epsilon
	return m
}

// few returns a world of n places with most events at the first places.
func few(n int) world {
	rng := rand.New(rand.NewPCG(4, 44))
	w := world{pick: 2}
	for i := range n {
		p := place{name: strconv.Itoa(i), latitude: 50 * rng.Float64(), longitude: 80 * rng.Float64()}
		w.places = append(w.places, p)
	}
	w.table = w.tableOf(3000)
	for range 16000 {
		w.types = append(w.types, min(rng.IntN(n), rng.IntN(n), rng.IntN(n)))
	}
	return w
}

// TestPureExperts checks FI-DP with experts that follow the leader at pure ε. With the printed H, their value grows
// with ε up to greedy's value. It falls with N much faster than the value of exponential weights, whose privacy loss
// comes from draws and not from each of kN sums. With the H derived from the declared noise they reach greedy's value
// at ε = 10.
func TestPureExperts(t *testing.T) {
	score := func(n int, epsilon float64, rule string, more ...string) float64 {
		w := few(n)
		m := pure(len(w.types), epsilon)
		if rule == byDraws {
			m = lifetime(uint64(len(w.types)), epsilon)
			m.Budget.Delta = 0
		}
		return w.machine(t, m, 1, append(more, "RULE="+rule, "PLACES=given", "CATCHMENT=3000", "EMIT_EVERY=100")...).normal()
	}
	const source = "RATE=printed"
	five, twenty := score(5, 10, byLeaders, source), score(20, 10, byLeaders, source)
	none := score(20, 1e4, byLeaders, source)
	drawn, derived := score(20, 10, byDraws), score(20, 10, byLeaders)
	t.Logf("ε = 10: leaders of 5 places %.3f, of 20 %.3f, at the derived H %.3f, weights of 20 %.3f; of 20 at ε = 10 000 %.3f", five, twenty,
		derived, drawn, none)
	if five < 0.8 || twenty > five-0.2 || drawn < 0.95 || none < 0.95 || derived < 0.95 {
		t.Error("not in their order")
	}
}

// TestEventsSoFarFollowTheScope checks weight: without a memory it counts the events of all steps, and with a memory H
// it is multiplied by 1 − 1/H in each step.
func TestEventsSoFarFollowTheScope(t *testing.T) {
	for _, x := range []struct {
		m    mechanisms.Config
		want float64
	}{
		{optest.Window("blt"), 3 * 2}, {optest.Life(16), (1 + 15.0/16 + 15.0/16*15/16) * 2},
	} {
		x.m.Batch = 2
		c, m, _ := config(t, x.m, "RULE=argmax", "PICK=2", "ELEMENTS=4", "EMIT_EVERY=1")
		stream := mechtest.ZeroStream(t, m)
		for range 3 {
			stream.Close()
		}
		if got := c.weight(stream); got != x.want {
			t.Errorf("%s: %g events, want %g", m.Words().Length, got, x.want)
		}
	}
}

// TestLeadersDrawFromTheirPoint checks that an element's probability is its coordinate in the projection of the
// released sums to the simplex, by the formula of the source paper. An element of probability 0 must never be drawn.
// The last set of a stream that ends must be the most probable one.
func TestLeadersDrawFromTheirPoint(t *testing.T) {
	const events, elements = 64, 4
	m := pure(events, 40)
	m.Unit = protection.Event{Exchange: dp.Replace}
	c, m, p := config(t, m, "RULE=leaders", "PICK=2", "ELEMENTS=4", "EMIT_EVERY=1", "RATE=printed")
	ln := math.Log(events)
	want := math.Sqrt(elements) / 2 * math.Sqrt(elements*math.Pow(ln, 2.5)/(40/math.Sqrt(2)*events))
	if math.Abs(p.strength/want-1) > 1e-12 {
		t.Errorf("H = %g, want %g", p.strength, want)
	}
	stream := mechtest.Open(t, m, [32]byte{2})
	machine, err := newMachine(c, p, stream)
	if err != nil {
		t.Fatal(err)
	}
	counted := operators.ByCount(machine)
	position, looked, without := 0, 0, 0
	point := func(i int) (probabilities []float64) { // finds by bisection the amount to subtract from all coordinates
		sum := stream.Sum(0)[i*elements:][:elements]
		low, high := -1e12, 1e12
		for range 200 {
			probabilities = probabilities[:0]
			tau, total := (low+high)/2, 0.0
			for _, g := range sum {
				x := max(0, g/(p.strength*float64(stream.Step()))-tau)
				probabilities, total = append(probabilities, x), total+x
			}
			if total > 1 {
				low = tau
			} else {
				high = tau
			}
		}
		return probabilities
	}
	stream.DrawBy(func(d mechanisms.Draw, drawn int) int {
		all, probabilities, at := 0.0, point(position%2), 0
		for _, q := range d.Scores {
			all += math.Exp(float64(q) / (1 << operators.ProbabilityBits))
		}
		for a, x := range probabilities {
			if x < 1e-9 {
				without++
				continue
			}
			if got := math.Exp(float64(d.Scores[at])/(1<<operators.ProbabilityBits)) / all; math.Abs(got-x) > 1e-5 {
				t.Errorf("step %d, position %d: element %d has a chance of %g, want %g", d.Step, position%2, a, got, x)
			}
			at++
			looked++
		}
		position++
		return drawn
	})
	var set []float64
	for i, e := range drawn(c, events, 5) {
		for _, d := range counted.Add(nil, operators.Record{Event: e, Identity: noise.Identity{Offset: int64(i)}}) {
			set = d.Point
		}
	}
	if looked < events || without < events {
		t.Errorf("%d chances were looked at, and %d without one", looked, without)
	}
	for i, element := range set {
		if probabilities := point(i); probabilities[int(element)] < slices.Max(probabilities)-1e-12 {
			t.Errorf("position %d: %g is the last element, chances %v", i, element, probabilities)
		}
	}
}
