package blt

import (
	"math"
	"math/big"
	"testing"

	"oriel/mechanisms/dp"
	"oriel/mechanisms/lattice"
	"oriel/mechanisms/mechtest/sumtest"
	"oriel/mechanisms/mechtest/tiertest"
	"oriel/mechanisms/noise"
)

// world is one of two neighbouring streams of one coordinate: its carry and its clean total.
type world struct {
	buffer [MaxPoles]lattice.Int128
	total  int64
}

// law enumerates every history n_1 … n_T of a stream, with |n_t| ≤ reach, together with the noise n' that gives the
// same releases in the neighbouring stream. By the chain rule P(y) is the product of the cell probabilities of n, and
// P'(y) the product for n'. It calls visit with P, P' and Σ(n_t − n'_t)².
type law struct {
	filter Filter
	cell   func(n int64) float64 // P(round(s·Z) = n)
	reach  int64
	// moved returns the change of the neighbour's contribution in a step, after the given releases.
	moved func(step int, releases []int64) int64
	visit func(p, q, shift float64)
}

func (l law) walk(x, y world, releases []int64, step int, p, q, shift float64) {
	if step == len(releases) {
		l.visit(p, q, shift)
		return
	}
	y.total += l.moved(step, releases[:step])
	for n := -l.reach; n <= l.reach; n++ {
		a, b := x, y
		// The carry does not depend on the current n, so it is equal for every n of this loop
		// (TestCarryIsAFunctionOfThePast).
		release := a.total + int64(l.filter.carry(&a.buffer, n).Lo) + n
		peek := b.buffer
		other := release - b.total - int64(l.filter.carry(&peek, 0).Lo)
		l.filter.carry(&b.buffer, other)
		off := float64(n - other)
		releases[step] = release
		l.walk(a, b, releases, step+1, p*l.cell(n), q*l.cell(other), shift+off*off)
	}
}

// fixed changes the contributions of given steps, counted from 0.
func fixed(moved map[int]int64) func(int, []int64) int64 {
	return func(step int, _ []int64) int64 { return moved[step] }
}

// exactLaw returns, over T steps and on a grid of ε, δ(ε) of two neighbours that differ by Δ from step i on. worst is
// the largest shift √Σ(n_t − n'_t)²/s over all histories.
func exactLaw(f Filter, s float64, delta int64, i, steps int, epsilons []float64) (deltas []float64, worst float64) {
	deltas = make([]float64, len(epsilons))
	l := law{
		filter: f, cell: sumtest.NormalCell(s), reach: int64(math.Ceil(5.5 * s)),
		moved: fixed(map[int]int64{i - 1: delta}), visit: func(p, q, shift float64) {
			worst = max(worst, shift)
			for k, epsilon := range epsilons {
				deltas[k] += max(0, p-math.Exp(epsilon)*q)
			}
		},
	}
	l.walk(world{}, world{}, make([]int64, steps), 0, 1, 1, 0)
	return deltas, math.Sqrt(worst) / s
}

// withoutSlack returns the claim of a proof that ignores η: Δ√Σd²/s.
func withoutSlack(t *testing.T, f Filter, s float64, delta int64, age uint64) float64 {
	t.Helper()
	r, err := NewResponse(f)
	if err != nil {
		t.Fatal(err)
	}
	return float64(delta) * math.Sqrt(r.Sensitivity(age)) / s
}

// TestExactLawIsWithinTheClaim checks PROOF.md, Theorem 1 by exact enumeration with the real carry, at the first step
// and later, at scales where η is as large as the noise. It must hold that δ_exact ≤ δ(µ*) ≤ δ(claim) and µ* ≤ claim,
// where µ* is the largest shift. Histories with a draw beyond 5.5 s are left out, which makes δ_exact smaller by less
// than 2e-7.
func TestExactLawIsWithinTheClaim(t *testing.T) {
	epsilons := []float64{0, 0.1, 0.5, 1, 2, 4}
	red := 0
	for i, f := range []Filter{handmade(t), mixed(t), fitFilter(t, 4, 0.3, 2), fitFilter(t, 1024, 0.3, 4)} {
		for k, c := range []struct {
			s        float64
			delta    int64
			i, steps int
		}{{0.7, 1, 1, 4}, {1, 1, 1, 4}, {1, 1, 2, 4}, {1.5, 1, 3, 4}, {1.5, 3, 1, 4}, {2, 2, 2, 3}, {4, 5, 1, 3}} {
			if tiertest.Runs((i+k)%2 != 0, false) {
				continue
			}
			deltas, worst := exactLaw(f, c.s, c.delta, c.i, c.steps, epsilons)
			age := uint64(c.steps - c.i + 1)
			claim := Loss{Filter: f, Square: uint64(c.delta * c.delta), N: 1, Scale: noise.ScaleUp(c.s)}.Mu(age)
			if worst > claim*(1+1e-12) {
				t.Errorf("%+v: a history realises µ = %g, claimed %g", c, worst, claim)
			}
			forgetful := withoutSlack(t, f, c.s, c.delta, age)
			for k, epsilon := range epsilons {
				if bound := dp.GaussianDelta(epsilon, worst); deltas[k] > bound*(1+1e-9) {
					t.Errorf("%+v: δ(%g) = %g, above %g of µ* = %g", c, epsilon, deltas[k], bound, worst)
				}
				if deltas[k] > dp.GaussianDelta(epsilon, forgetful)+1e-6 {
					red++
				}
			}
		}
	}
	if red == 0 {
		t.Error("a claim without η is never too small: the test tests nothing")
	}
	t.Logf("a claim without η is too small in %d cases", red)
}

// TestCarryIsAFunctionOfThePast checks that M_t depends only on n_1 … n_{t−1}, and so not on n_t.
func TestCarryIsAFunctionOfThePast(t *testing.T) {
	f := handmade(t)
	var a lattice.Int128
	for _, n := range []int64{0, 1, -1, 1 << 40} {
		buffer := [MaxPoles]lattice.Int128{{Lo: 1 << 50}, {Hi: -1}, {Lo: 12345}}
		if m := f.carry(&buffer, n); n == 0 {
			a = m
		} else if m != a {
			t.Errorf("the carry of the step that draws %d is %v, of one that draws 0 %v", n, m, a)
		}
	}
}

// recovered computes n_1, n_2, … only from releases and totals.
func recovered(f Filter, releases []float64, totals []int64) []int64 {
	var buffer [MaxPoles]lattice.Int128
	out := make([]int64, len(releases))
	for i, y := range releases {
		peek := buffer
		out[i] = int64(y) - totals[i] - int64(f.carry(&peek, 0).Lo)
		f.carry(&buffer, out[i])
	}
	return out
}

// TestNoiseIsRecoveredFromReleases checks that releases determine the noise, given the data, which PROOF.md, Theorem 1
// needs. For a filter of the continuous w, instead of round(w), recovery must fail.
func TestNoiseIsRecoveredFromReleases(t *testing.T) {
	f, sampler := handmade(t), sumtest.Gaussian(t, 5)
	c := newCarry(t, f, 5, 1, sampler)
	chain, dst := noise.NewChain([32]byte{1}), make([]float64, 1)
	var releases, planted []float64
	var drawn, totals []int64
	continuous, total := byDefinition(f), int64(0)
	for now := range int64(200) {
		sumtest.Step(c, chain, dst, now*now%7-3)
		total += now*now%7 - 3
		releases, totals, drawn = append(releases, dst[0]), append(totals, total), append(drawn, c.drawn[0])
		// w is n plus a fraction that no release reveals.
		m := nearest(continuous.Next(c.drawn[0]))
		continuous.Disturb(big.NewRat(4-8*(now/16%2), 9))
		planted = append(planted, float64(total+m+c.drawn[0]))
	}
	count := func(releases []float64) (wrong int) {
		for i, n := range recovered(f, releases, totals) {
			if n != drawn[i] {
				wrong++
			}
		}
		return wrong
	}
	if wrong := count(releases); wrong != 0 {
		t.Errorf("%d of %d draws are not recovered", wrong, len(drawn))
	}
	if wrong := count(planted); wrong < 40 {
		t.Errorf("w fed back: not caught, %d draws differ", wrong)
	}
}

func nearest(x *big.Rat) int64 {
	f, _ := x.Float64()
	return int64(math.Round(f))
}
