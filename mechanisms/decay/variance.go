package decay

import (
	"oriel/mechanisms/dp"
	"oriel/mechanisms/rational"
)

// all is a number of terms that no stream reaches. The sum of squares of this many terms of b or c equals the infinite
// sum within its interval.
const all = forever

// Variance returns Σ_{j≥0} b_j², rounded up: the variance of a release between resets, in units of s². Like all figures
// of this file it omits the rounding of single draws, which is below a lattice unit.
func (f Filter) Variance() float64 {
	return dp.RoundUp(f.valid().b.Energy(all).Hi)
}

// VarianceAt returns the variance of the release of a step, counted from 1, in units of s², rounded up. With k resets
// before, a the age in the current block, at least 1, and A_a = Σ_{j<a} b_j²,
//
//	V = A_a + γ^{2a}·A_P·Σ_{i<k} γ^{2Pi},
//
// because noise released before a reset decays, and the draws of a new block's filter are independent of it.
func (f Filter) VarianceAt(step uint64) float64 {
	if step == 0 {
		panic("BUG: decay: variance before the first step")
	}
	return dp.RoundUp(f.valid().variance(step).Hi)
}

func (r *response) variance(step uint64) rational.Interval {
	age := (step-1)%r.period + 1
	before := rational.Sum{
		Rates:   []rational.Interval{r.decay.Power(r.period)},
		Weights: []rational.Interval{rational.Whole(1)},
	}
	old := r.decay.Power(2 * age).Mul(r.b.Energy(r.period)).Mul(before.Energy((step - 1) / r.period))
	return r.b.Energy(age).Add(old)
}

// peakGrid sets the distance of the ages that Peak evaluates, a sixteenth of the age. Between these ages its bound is
// some per cent above the variance.
const peakGrid = 16

// Peak returns a bound on the variance of the release of any step, in units of s². The variance has a bump after a
// reset: for ages from a up to b − 1 it is at most A_{b−1} + γ^{2a}·Σb².
func (f Filter) Peak() float64 {
	r := f.valid()
	whole := r.b.Energy(all)
	peak := whole.Hi
	for a := uint64(1); ; {
		b := a + max(1, a/peakGrid)
		left := r.decay.Power(2 * a)
		if x := r.b.Energy(b - 1).Add(left.Mul(whole)).Hi; x.Cmp(peak) > 0 {
			peak = x
		}
		if a = b; left.Hi.MantExp(nil) < -peakEnd {
			break // the remaining terms are below 2^−64 of Σb²
		}
	}
	return dp.Up(peak, -peakEnd+1)
}

// peakEnd is −log₂ of the remaining variance that Peak covers by its margin.
const peakEnd = 64

// Ratio returns Σb²·Σc² over the least long-run variance of any Gaussian mechanism of PROOF.md, Theorem 2, rounded up.
// It is the certificate of a fit.
func (f Filter) Ratio() float64 {
	r := f.valid()
	product := r.b.Energy(all).Mul(r.c.Energy(all))
	return dp.RoundUp(rational.Up().Quo(product.Hi, optimum(f.Memory)))
}

// valid returns the response of a filter, which must be valid.
func (f Filter) valid() *response {
	r, err := newResponse(f)
	if err != nil {
		panic("BUG: decay: figures of an invalid filter")
	}
	return r
}
