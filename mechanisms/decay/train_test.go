package decay

import (
	"fmt"
	"math"
	"testing"

	"oriel/mechanisms/lattice"
	"oriel/mechanisms/mechtest/sumtest"
	"oriel/mechanisms/mechtest/tiertest"
	"oriel/mechanisms/noise"
)

// TestExactLawOfAUserIsWithinTheClaim checks PROOF.md, Theorem 4 by exact enumeration with the real carry, at scales
// where η is as large as the noise: two events of one user in a block, and two with a reset between them. The loss must
// exceed a claim that accounts for only one event.
func TestExactLawOfAUserIsWithinTheClaim(t *testing.T) {
	short := 0
	for i, f := range written(t) {
		for k, c := range []struct {
			s            float64
			delta        int64
			places       []int
			steps, reset int
		}{
			{0.7, 1, []int{1, 2}, 4, 0},
			{1, 1, []int{1, 2}, 4, 0},
			{1, 1, []int{2, 4}, 4, 0},
			{1.5, 3, []int{1, 3}, 4, 0},
			{1, 1, []int{1, 2, 3}, 4, 0},
			{1, 1, []int{2, 4}, 4, 3},
			{1.5, 2, []int{1, 4}, 4, 2},
		} {
			if tiertest.Runs((i+k)%2 != 0, false) {
				continue
			}
			var found sumtest.Histories
			worst := 0.0
			l := law{
				filter: f, cell: sumtest.NormalCell(c.s), reach: int64(math.Ceil(5.5 * c.s)),
				moved: fixed(c.delta, c.places...), steps: c.steps, reset: c.reset,
				visit: func(p, q, squares float64) {
					found.Add(p, q, squares/(c.s*c.s))
					worst = max(worst, math.Sqrt(squares)/c.s)
				},
			}
			l.all()
			first, last := c.places[0], c.places[len(c.places)-1]
			claim := UserLoss{
				Loss:       Loss{Filter: f, Square: lattice.Int128{Lo: uint64(c.delta * c.delta)}, N: 1, Scale: noise.ScaleUp(c.s)},
				Separation: uint64(c.places[1] - first), Window: uint64(last - first + 1),
			}
			found.AreWithin(t, "exact law of a user", claim.Mu(uint64(c.steps-first+1)))
			one := claim
			one.Window = 1
			if c.reset == 0 && worst > one.Mu(uint64(c.steps-first+1)) {
				short++
			}
		}
	}
	if short == 0 {
		t.Error("a claim that accounts one event is never exceeded: the test tests nothing")
	}
}

// TestExactLawOfAnAdaptiveUserIsWithinTheClaim checks PROOF.md, Theorem 4 with adaptive participation, by exact
// enumeration with the real carry, across a reset too. Earlier releases determine the steps of the user's events, and
// the sign by which the user's contribution changes.
func TestExactLawOfAnAdaptiveUserIsWithinTheClaim(t *testing.T) {
	const separation = 2
	for rule, comes := range sumtest.Comings[int64]() {
		red := 0
		for i, f := range written(t) {
			for k, c := range []struct {
				s            float64
				delta        int64
				steps, reset int
			}{{0.7, 1, 4, 0}, {1, 1, 4, 0}, {1, 2, 4, 2}, {4, 4, 3, 0}} {
				if tiertest.Runs((i+k)%2 != 0, false) {
					continue
				}
				var found sumtest.Histories
				law{
					filter: f, cell: sumtest.NormalCell(c.s), reach: int64(math.Ceil(5.5 * c.s)), steps: c.steps, reset: c.reset,
					moved: func(step int, u []int64) int64 {
						switch {
						case !comes(step, u):
							return 0
						case step > 0 && u[step-1]%2 != 0:
							return -c.delta
						}
						return c.delta
					},
					visit: func(p, q, squares float64) { found.Add(p, q, squares/(c.s*c.s)) },
				}.all()
				event := Loss{Filter: f, Square: lattice.Int128{Lo: uint64(c.delta * c.delta)}, N: 1, Scale: noise.ScaleUp(c.s)}
				claim := UserLoss{Loss: event, Separation: separation, Window: uint64(c.steps)}
				if found.AreWithin(t, fmt.Sprintf("%s: s=%g Δ=%d", rule, c.s, c.delta), claim.Mu(uint64(c.steps))) {
					red++
				}
			}
		}
		if red == 0 {
			t.Errorf("%s: the mean of squares over histories is never too small a claim: the test tests nothing", rule)
		}
	}
}
