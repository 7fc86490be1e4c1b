package blt

import (
	"fmt"
	"math"
	"testing"

	"oriel/mechanisms/mechtest/sumtest"
	"oriel/mechanisms/mechtest/tiertest"
	"oriel/mechanisms/noise"
)

// TestExactLawOfAnAdaptiveUserIsWithinTheClaim checks mechanisms/PROOF.md, Theorem 1 with adaptive participation, by
// exact enumeration of histories with the real carry. Earlier releases determine the steps of the user's events, and
// the sign by which the user's contribution changes.
func TestExactLawOfAnAdaptiveUserIsWithinTheClaim(t *testing.T) {
	const separation = 2
	for rule, comes := range sumtest.Comings[int64]() {
		red := 0
		for i, f := range []Filter{handmade(t), mixed(t), fitFilter(t, 4, 0.3, 2)} {
			for k, c := range []struct {
				s     float64
				delta int64
				steps int
			}{{0.7, 1, 4}, {1, 1, 4}, {1, 2, 4}, {4, 4, 3}} {
				if tiertest.Runs((i+k)%2 != 0, false) {
					continue
				}
				var found sumtest.Histories
				law{
					filter: f, cell: sumtest.NormalCell(c.s), reach: int64(math.Ceil(5.5 * c.s)),
					moved: func(step int, y []int64) int64 {
						switch {
						case !comes(step, y):
							return 0
						case step > 0 && y[step-1]%2 != 0:
							return -c.delta
						}
						return c.delta
					},
					visit: func(p, q, shift float64) { found.Add(p, q, shift/(c.s*c.s)) },
				}.walk(world{}, world{}, make([]int64, c.steps), 0, 1, 1, 0)
				l := UserLoss{
					Loss:       Loss{Filter: f, Square: uint64(c.delta * c.delta), N: 1, Scale: noise.ScaleUp(c.s)},
					Separation: separation, Window: uint64(c.steps),
				}
				what := fmt.Sprintf("%s: s=%g Δ=%d", rule, c.s, c.delta)
				if found.AreWithin(t, what, l.Mu(uint64(c.steps))) {
					red++
				}
				if c.s == 4 { // tolerance for rounding at s = 4: √(1 + 1/(12·16)) = 1.0026
					found.AreNormalWithOneMoreStep(t, what, 0.004)
				}
			}
		}
		if red == 0 {
			t.Errorf("%s: the mean of squares over histories is never too small a claim: the test tests nothing", rule)
		}
	}
}
