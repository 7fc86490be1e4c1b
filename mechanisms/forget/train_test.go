package forget

import (
	"math"
	"testing"

	"oriel/mechanisms/lattice"
	"oriel/mechanisms/mechtest/sumtest"
	"oriel/mechanisms/noise"
)

// PROOF.md, Theorem 4 on the shipped carry, exactly, at scales where η is of the size of the noise: two events of one
// user in a block, and two that a reset parts; and with one event accounted of the two it is exceeded.
func TestExactLawOfAUserIsWithinTheClaim(t *testing.T) {
	short := 0
	for _, f := range written(t) {
		for _, c := range []struct {
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
			var found sumtest.Histories
			worst := 0.0
			l := law{
				filter: f, cell: sumtest.NormalCell(c.s), reach: int64(math.Ceil(5.5 * c.s)), delta: c.delta,
				places: c.places, steps: c.steps, reset: c.reset,
				leaf: func(p, q, squares float64) {
					found.Add(p, q, squares/(c.s*c.s))
					worst = max(worst, math.Sqrt(squares)/c.s)
				},
			}
			l.walk(world{}, world{}, 0, 1, 1, 0)
			first, last := c.places[0], c.places[len(c.places)-1]
			claim := Loss{
				Filter: f, Square: lattice.Int128{Lo: uint64(c.delta * c.delta)}, N: 1, Scale: noise.ScaleUp(c.s),
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
