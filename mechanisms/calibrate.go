package mechanisms

import (
	"fmt"
	"math"
	"math/big"

	"oriel/mechanisms/blt"
	"oriel/mechanisms/decay"
	"oriel/mechanisms/dp"
	"oriel/mechanisms/noise"
)

// Formulas are computed at dp.Precision bits and moved outwards by a relative 2^margin, which covers the rounding of
// their few operations. A scale is moved further than a claim. Therefore the claim recomputed from the scale is never
// above the calibrated claim.
const (
	scaleMargin = -200
	claimMargin = -240
)

// exposure describes one window for one unit of privacy: c_x is the number of the unit's events that lie under node x.
type exposure struct {
	squares *big.Float // at least Σc_x² over the nodes x
	total   *big.Float // at least Σc_x over the nodes x
}

// sensitivity returns the largest shift of the node sums of one window when a unit is exchanged, in lattice units. Node
// x shifts by a vector of ℓ2 norm at most c_xΔ.
//
//	Gaussian  Δ√(Σc_x²)     because the nodes together are one Gaussian mechanism
//	Gamma     ΔΣc_x         because the density ratios of the nodes multiply
//	Laplace   √n·ΔΣc_x      because the ℓ1 norm is at most √n times the ℓ2 norm (discrete noise: absoluteOf)
func (l exposure) sensitivity(x calibratedComponent, law Law) *big.Float {
	distance := dp.Root(dp.Float().SetUint64(x.square.Lo)) // exact for a coarse grid, whose squares fit 64 bits
	switch law {
	case Gaussian:
		distance.Mul(distance, dp.Root(l.squares))
	case Gamma:
		distance.Mul(distance, l.total)
	case Laplace:
		distance.Mul(distance, l.total).Mul(distance, dp.Root(dp.Exact(float64(x.n))))
	case Gumbel: // an exponential mechanism draws elements and has no nodes
	}
	return distance
}

// nodeScale returns the noise scale of a node in lattice units that proves the component's budget, rounded up: it is
// the unit's sensitivity divided by µ or ε.
func nodeScale(x calibratedComponent, law Law, l exposure) noise.Scale {
	distance := l.sensitivity(x, law)
	return noise.ScaleUp(dp.Up(distance.Quo(distance, dp.Exact(x.budget)), scaleMargin))
}

// nodeLoss returns the µ or ε of one window that a component's noise proves, rounded up: it is the unit's sensitivity
// divided by the scale.
func nodeLoss(x calibratedComponent, law Law, l exposure) float64 {
	distance := l.sensitivity(x, law)
	return dp.Up(distance.Quo(distance, dp.Dyadic(x.scale.Mant, x.scale.Exp)), claimMargin)
}

// errorBound returns E ≥ ‖ν_t‖₂ with probability 1 − β for any one step, in loss units, where ν_t is the noise of a
// release. It sums at most h nodes, and each noise vector is rounded to the lattice, which adds at most √n/2 units.
//
//	Gaussian  σ√h(√n + √(2 ln(1/β)))                                  [WDP] §4.2
//	Gamma     θ(√(h(n+1)) + √(2ℓ))(√n + √(2ℓ)), ℓ = ln(2/β)            [WDP] §4.1
//	Laplace   σ√(2(h + √(2hℓ') + ℓ'))(√n + √(2ℓ)), ℓ' = ln(2n/β)
//
// Laplace noise of scale σ is σ√(2E)·Z with E exponential and Z normal. Given all E, a coordinate is normal with
// variance 2σ²Γ, where Γ is Gamma of shape at most h and exceeds h + √(2hℓ') + ℓ' with probability at most e^{−ℓ'} =
// β/(2n). The normals take the other β/2.
//
// ν_t is the error against the sum of quantised contributions. A contribution differs from its clipped gradient by
// about a unit times √n at most, 2⁻²⁴ of L. E does not include this difference, because to the operator the quantised
// contribution is the gradient. The conversion to float64 adds 2⁻⁵³ of the released sum.
//
// For scaled coordinates the norm is at most √max k_i times the norm in lattice units.
func errorBound(x calibratedComponent, law Law, failure float64, levels int) float64 {
	if failure == 0 {
		return 0
	}
	n, h := float64(x.n), float64(levels)
	l := dp.LogUp(2 / failure)
	e := 0.0
	switch law {
	case Gaussian:
		e = math.Sqrt(h) * (math.Sqrt(n) + math.Sqrt(2*dp.LogUp(1/failure)))
	case Gamma:
		e = (math.Sqrt(h*(n+1)) + math.Sqrt(2*l)) * (math.Sqrt(n) + math.Sqrt(2*l))
	case Laplace:
		tail := dp.LogUp(2 * n / failure)
		e = math.Sqrt(2*(h+math.Sqrt(2*h*tail)+tail)) * (math.Sqrt(n) + math.Sqrt(2*l))
	case Gumbel: // an exponential mechanism releases no sum, so it has no error
	}
	e = (e*x.scale.Float64() + h*math.Sqrt(n)/2) * x.grid.Unit() * x.stretch
	return e * (1 + 0x1p-40) // covers the rounding of the dozen operations above
}

// filterErrorBound is errorBound for blt: E = σ√(Σb²)·(√n + √(2 ln(1/β))). A release is Σb_j·round(w) within η a
// coordinate, and each round is within ½, so rounding adds at most √n·(b(1)/2 + η) units.
func filterErrorBound(x calibratedComponent, f blt.Filter, failure float64) (float64, error) {
	if failure == 0 {
		return 0, nil
	}
	r, err := blt.NewResponse(f)
	if err != nil {
		return 0, fmt.Errorf("mechanisms: %w", err)
	}
	n := math.Sqrt(float64(x.n))
	sum, _ := f.Sum().Float64()
	slack, _ := f.Slack().Float64()
	e := math.Sqrt(r.Noise())*(n+math.Sqrt(2*dp.LogUp(1/failure)))*x.scale.Float64() + n*(sum/2+slack)
	return e * x.grid.Unit() * x.stretch * (1 + 0x1p-40), nil // covers the rounding of the dozen operations above
}

// decayingErrorBound is errorBound for decaying sums: E = σ√peak·(√n + √(2 ln(1/β))), with the largest variance of a
// release, soon after a reset. Rounding adds less than 1 + η units to a coordinate in each step. The decaying sum keeps
// at most H times as much, plus one unit in the last place.
func decayingErrorBound(x calibratedComponent, f decay.Filter, failure float64) float64 {
	if failure == 0 {
		return 0
	}
	n := math.Sqrt(float64(x.n))
	e := math.Sqrt(f.Peak())*(n+math.Sqrt(2*dp.LogUp(1/failure)))*x.scale.Float64() + n*2*float64(f.Memory)
	return e * x.grid.Unit() * x.stretch * (1 + 0x1p-40) // covers the rounding of the dozen operations above
}
