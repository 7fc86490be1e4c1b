package submodular

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"oriel/mechanisms/mechtest"
	"oriel/schemas/event"
)

// TestScoreIsTheMissedValue compares scores with 1 − f(S) by the function's definition, for sets and events of all
// kinds. The first set is the machine's set before any event. An unusable event has no score.
func TestScoreIsTheMissedValue(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	for _, kind := range kinds {
		c, m, p := config(t, kind.m, kind.lines...)
		machine, err := newMachine(c, p, mechtest.Open(t, m, [32]byte{5}))
		if err != nil {
			t.Fatal(err)
		}
		score, model := c.Score(), &reference{operator: c, params: p}
		for i, x := range score.Start {
			same := int(x) == machine.set[min(i, c.pick-1)]
			if c.rule == byShares {
				same = (x == 1) == slices.Contains(machine.set, i)
			}
			if !same {
				t.Fatalf("%s: the first set is %v, the machine has %v", kind.name, score.Start, machine.set)
			}
		}
		for _, e := range drawn(c, 200, 7) {
			set := rng.Perm(c.elements)[:c.pick]
			point := make([]float64, c.pick)
			for i, element := range set {
				point[i] = float64(element)
			}
			if c.rule == byShares { // a point with coordinate 1 at the elements of the set and 0 elsewhere
				point = make([]float64, c.elements)
				for _, element := range set {
					point[element] = 1
				}
			}
			v := make([]float64, c.elements)
			switch {
			case len(c.types) > 0:
				copy(v, p.table[int(e.Numbers[0])*c.elements:])
			case e.Vector.Indices == nil:
				copy(v, e.Vector.Values)
			default:
				for k, at := range e.Vector.Indices {
					v[at] = e.Vector.Values[k]
				}
			}
			for a := range v {
				v[a] = max(0, min(1, v[a]))
			}
			if got, want := score.Loss(point, e), 1-model.value(v, set); math.Abs(got-want) > 1e-12 {
				t.Fatalf("%s: %v misses %g of %+v, want %g", kind.name, set, got, e, want)
			}
		}
		none := event.Event{Numbers: []float64{-1}, Vector: event.Vector{Values: []float64{1}}}
		last := slices.Repeat([]float64{float64(c.elements - 1)}, len(score.Start))
		if got := score.Loss(last, none); !math.IsNaN(got) {
			t.Errorf("%s: what is no event misses %g", kind.name, got)
		}
	}
}
