package decay

import (
	"slices"

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
// reset: for ages from a up to b − 1 it is at most A_{b−1} + γ^{2a}·Σb². Because a bound in directed rounding is slow,
// it is only computed where a bound in floating point is near the largest.
func (f Filter) Peak() float64 {
	r := f.valid()
	whole := r.b.Energy(all)
	spans := f.spans(r.b, dp.RoundUp(whole.Hi))
	highest := 0.0
	for _, s := range spans {
		highest = max(highest, s.rough)
	}
	peak := whole.Hi
	for _, s := range spans {
		if s.rough < highest-peakError {
			continue
		}
		left := r.decay.Power(2 * s.first)
		if x := r.b.Energy(s.next - 1).Add(left.Mul(whole)).Hi; x.Cmp(peak) > 0 {
			peak = x
		}
	}
	return dp.Up(peak, -peakEnd+1)
}

// span is the ages from first up to next − 1, and the bound of Peak for them in floating point.
type span struct {
	first, next uint64
	rough       float64
}

// spans returns the ages before those whose remaining variance is below 2^−64 of Σb², which is whole. The sum b is that
// of the filter's own memory. If its terms cancel, all rough bounds are 0.
func (f Filter) spans(b rational.Sum, whole float64) (out []span) {
	energies, err := rational.NewEnergies(append(slices.Clone(f.Poles[:f.Count]), f.Decay()), b.Weights)
	// γ^{2a} ≤ e^{−2a(1−γ)}, and e^{−2·23} < 2^{−64−1}.
	for first := uint64(1); first*(unit-uint64(f.Decay())) < 23*unit; {
		s := span{first: first, next: first + max(1, first/peakGrid)}
		if err == nil {
			s.rough = energies.At(s.next-1) + float64(Left(f.Memory, 2*first)*whole)
		}
		out = append(out, s)
		first = s.next
	}
	return out
}

// peakError is more than twice the error of a rough bound. For at most 2²⁵ steps, energies are off by at most 2⁻²⁰, and
// a share that is left by 2⁻³⁶. Σb² is below 2¹⁹.
const peakError = 0x1p-12

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
