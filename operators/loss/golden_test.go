package loss

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"oriel/mechanisms/mechtest/goldentest"
	"oriel/schemas/event"
)

// TestGoldenGradients checks every bit of gradients and values, dense and sparse, small and saturated. Points and
// events are computed from integers, so that every CPU and build must give the same bits.
func TestGoldenGradients(t *testing.T) {
	const n, events = 5, 24
	var lines []string
	for _, name := range Names() {
		l := mustParse(t, name)
		rng := rand.New(rand.NewPCG(21, 4))
		for i := range events {
			x, dst := make([]float64, n), make([]float64, n)
			e := event.Event{Label: float64(1 - 2*rng.IntN(2)), Weight: float64(1+rng.IntN(8)) / 3}
			size := []float64{300, 7, 1e5, 3e8}[i%4] // gives margins near 1, 1e3, 1e-5 and 1e-12
			for k := range n {
				x[k] = float64(1+rng.IntN(1000)) / size
				e.Vector.Values = append(e.Vector.Values, float64(1+rng.IntN(1000))/300)
				if name != "portfolio" && rng.IntN(2) == 0 {
					x[k] = -x[k]
				}
			}
			if i%3 == 2 {
				e.Vector = event.Vector{Indices: []int32{4, 0, 2}, Values: e.Vector.Values[:3]}
			}
			if !l.Gradient(dst, x, e) {
				t.Errorf("%s: event %d has no gradient", name, i)
			}
			line := fmt.Sprintf("%s %d value %016x gradient", name, i, math.Float64bits(l.Value(x, e)))
			for _, g := range dst {
				line += fmt.Sprintf(" %016x", math.Float64bits(g))
			}
			lines = append(lines, line)
		}
	}
	goldentest.Check(t, lines)
}
