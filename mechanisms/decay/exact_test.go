package decay

import (
	"math"
	"slices"
	"testing"

	"oriel/mechanisms/lattice"
	"oriel/mechanisms/mechtest/sumtest"
	"oriel/mechanisms/mechtest/tiertest"
	"oriel/mechanisms/noise"
)

// world is the carry of one of two neighbouring streams of one coordinate. Contributions are 0, except for the one that
// differs.
type world struct {
	buffers [MaxPoles]lattice.Int128
}

// law enumerates every history n_1 … n_T of a stream, with |n_t| ≤ reach, together with the noise n' that gives the
// same releases in the neighbouring stream. moved returns the change of the neighbour's contribution in a step, and may
// use earlier releases. By the chain rule P(y) is the product of the cell probabilities of n, and P'(y) the product for
// n'. The code uses increments in place of releases, because they determine each other. A reset follows step reset,
// counted from 1; 0: no reset.
type law struct {
	filter       Filter
	cell         func(n int64) float64 // P(round(s·Z) = n)
	reach        int64
	moved        func(step int, u []int64) int64
	steps, reset int
	visit        func(p, q, squares float64)
}

// fixed changes the contributions of the given steps, counted from 1, by delta, independent of releases.
func fixed(delta int64, places ...int) func(int, []int64) int64 {
	return func(step int, _ []int64) int64 {
		if slices.Contains(places, step+1) {
			return delta
		}
		return 0
	}
}

// all enumerates every history.
func (l law) all() { l.walk(world{}, world{}, make([]int64, l.steps), 0, 1, 1, 0) }

func (l law) walk(x, y world, releases []int64, step int, p, q, squares float64) {
	if step == l.steps {
		l.visit(p, q, squares)
		return
	}
	moved := l.moved(step, releases[:step])
	for n := -l.reach; n <= l.reach; n++ {
		a, b := x, y
		// The carry does not depend on the current n, so it is equal for every n of this loop.
		u := int64(l.filter.carry(&a.buffers, n).Lo) + n
		releases[step] = u
		peek := b.buffers
		other := u - moved - int64(l.filter.carry(&peek, 0).Lo)
		l.filter.carry(&b.buffers, other)
		if step+1 == l.reset {
			a, b = world{}, world{}
		}
		off := float64(n - other)
		l.walk(a, b, releases, step+1, p*l.cell(n), q*l.cell(other), squares+off*off)
	}
}

// TestExactLawIsWithinTheClaim checks PROOF.md, Theorem 1 by exact enumeration with the real carry, at the first step
// and later, at scales where η is as large as the noise. An event before a reset must cost nothing after it. Histories
// with a draw beyond 5.5 s are left out, which makes the result smaller by less than 2e-7.
func TestExactLawIsWithinTheClaim(t *testing.T) {
	for i, f := range written(t) {
		for k, c := range []struct {
			s               float64
			delta           int64
			i, steps, reset int
		}{
			{0.7, 1, 1, 4, 0},
			{1, 1, 1, 4, 0},
			{1, 1, 2, 4, 0},
			{1.5, 1, 3, 4, 0},
			{1.5, 3, 1, 4, 0},
			{4, 5, 1, 3, 0},
			{1, 1, 1, 4, 2},
			{1, 2, 2, 4, 2},
		} {
			if tiertest.Runs((i+k)%2 != 0, false) {
				continue
			}
			var found sumtest.Histories
			l := law{
				filter: f, cell: sumtest.NormalCell(c.s), reach: int64(math.Ceil(5.5 * c.s)), moved: fixed(c.delta,
					c.i), steps: c.steps, reset: c.reset,
				visit: func(p, q, squares float64) { found.Add(p, q, squares/(c.s*c.s)) },
			}
			l.all()
			last := c.steps
			if c.reset > 0 {
				last = c.reset
			}
			claim := Loss{Filter: f, Square: lattice.Int128{Lo: uint64(c.delta * c.delta)}, N: 1, Scale: noise.ScaleUp(c.s)}
			found.AreWithin(t, "exact law", claim.Mu(uint64(last-c.i+1)))
		}
	}
}

// TestExactLawDetectsMissingTerms checks that the enumeration refutes a claim without η, and a claim without the carry.
func TestExactLawDetectsMissingTerms(t *testing.T) {
	f := written(t)[0]
	red := 0
	for _, s := range []float64{0.7, 1, 1.5} {
		worst := 0.0
		l := law{
			filter: f, cell: sumtest.NormalCell(s), reach: int64(math.Ceil(5.5 * s)), moved: fixed(1, 1), steps: 4,
			visit: func(_, _, squares float64) { worst = max(worst, squares) },
		}
		l.all()
		without, c := 0.0, 1.0 // the claim without η: Σ c_j² with c = 1/e of one pole, c_j = R·(q + R)^{j−1}
		rate, residue := float64(f.Poles[0]+f.Residues[0])/unit, float64(f.Residues[0])/unit
		for j := range 4 {
			without += c * c
			c = residue * math.Pow(rate, float64(j))
		}
		if worst > without*1.001 {
			red++
		}
	}
	if red == 0 {
		t.Error("a claim without η is never too small: the test tests nothing")
	}
}

// TestCarryIsAFunctionOfThePast checks that M_t depends only on earlier draws.
func TestCarryIsAFunctionOfThePast(t *testing.T) {
	f := written(t)[1]
	var first lattice.Int128
	for _, n := range []int64{0, 1, -1, 1 << 40} {
		buffers := [MaxPoles]lattice.Int128{{Lo: 1 << 50}, {Hi: -1}, {Lo: 12345}}
		if m := f.carry(&buffers, n); n == 0 {
			first = m
		} else if m != first {
			t.Errorf("the carry of the step that draws %d is %v, of one that draws 0 %v", n, m, first)
		}
	}
}
