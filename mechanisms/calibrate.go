package mechanisms

import (
	"fmt"
	"math"
	"math/big"

	"oriel/mechanisms/blt"
	"oriel/mechanisms/decay"
	"oriel/mechanisms/dp"
	"oriel/mechanisms/lattice"
	"oriel/mechanisms/noise"
)

// Formulas work at dp.Precision bits, and are moved outwards by a relative 2^margin, which covers their few operations.
// A scale is moved further than a claim, so that a claim recomputed from it is not above what it was calibrated to.
const (
	scaleMargin = -200
	claimMargin = -240
)

// exposure is how often the events of one unit of privacy lie under nodes, within one window: c_x of them under node x.
type exposure struct {
	squares *big.Float // at least Σc_x²
	total   *big.Float // at least Σc_x
}

// sensitivity returns how far a unit moves the noise of all nodes, in lattice units: the nodes are shifted by vectors
// of ℓ2 norm c_xΔ at most.
//
//	Gaussian  Δ√(Σc_x²)     the nodes are one Gaussian mechanism
//	Gamma     ΔΣc_x         a density ratio a node
//	Laplace   √n·ΔΣc_x      the same in the ℓ1 norm, at most √n times the ℓ2 norm
func (l exposure) sensitivity(x calibratedComponent, law Law) *big.Float {
	far := dp.Root(dp.Float().SetUint64(x.square.Lo)) // of a coarse grid
	switch law {
	case Gaussian:
		far.Mul(far, dp.Root(l.squares))
	case Gamma:
		far.Mul(far, l.total)
	case Laplace:
		far.Mul(far, l.total).Mul(far, dp.Root(dp.Exact(float64(x.n))))
	case Gumbel: // of draws, which have no nodes
	}
	return far
}

// nodeScale returns the noise scale of a node in lattice units that proves the component's budget, rounded up: what the
// unit moves over µ or ε.
func nodeScale(x calibratedComponent, law Law, l exposure) noise.Scale {
	far := l.sensitivity(x, law)
	return noise.ScaleUp(dp.Up(far.Quo(far, dp.Exact(x.budget)), scaleMargin))
}

// nodeLoss returns the µ or ε of one window that a component's noise proves, rounded up: what the unit moves over the
// scale.
func nodeLoss(x calibratedComponent, law Law, l exposure) float64 {
	far := l.sensitivity(x, law)
	return dp.Up(far.Quo(far, dp.Dyadic(x.scale.Mant, x.scale.Exp)), claimMargin)
}

// printedScale returns Config.Printed in lattice units, rounded up. Calibration.Guarantee says what it proves.
func printedScale(c Config, g lattice.Grid, levels int) noise.Scale {
	x := c.Printed(levels)
	return noise.ScaleUp(dp.Up(dp.Float().Quo(x, dp.Exact(g.Unit())), scaleMargin))
}

// errorBound returns E ≥ ‖ν_t‖₂ with probability 1 − β for any one step, loss units, where ν_t is the noise of a
// release: of at most h nodes, each noise vector rounded to the lattice, which adds at most √n/2 units.
//
//	Gaussian  σ√h(√n + √(2 ln(1/β)))                                  [WDP] §4.2
//	Gamma     θ(√(h(n+1)) + √(2ℓ))(√n + √(2ℓ)), ℓ = ln(2/β)            [WDP] §4.1
//	Laplace   σ√(2(h + √(2hℓ') + ℓ'))(√n + √(2ℓ)), ℓ' = ln(2n/β)
//
// Laplace noise of scale σ is σ√(2E)·Z with E exponential and Z normal: given the E's, a coordinate is normal with
// variance 2σ²Γ, Γ Gamma of shape at most h, which exceeds h + √(2hℓ') + ℓ' with probability at most e^{−ℓ'} = β/(2n);
// β/2 is for the n normals.
//
// ν_t is the error against the sum of quantised contributions. A contribution differs from its clipped gradient by at
// most a unit or so times √n, 2⁻²⁴ of L, and that is no noise of the mechanism: the quantised contribution is the
// gradient an operator is run on. The conversion to float64 adds 2⁻⁵³ of the released sum.
//
// Of scaled coordinates the norm is at most √max k_i times that of lattice units.
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
	case Gumbel: // no sum is released
	}
	e = (e*x.scale.Float64() + h*math.Sqrt(n)/2) * x.grid.Unit() * x.stretch
	return e * (1 + 0x1p-40) // rounding of the dozen operations above
}

// filterErrorBound is errorBound of blt: E = σ√(Σb²)·(√n + √(2 ln(1/β))). A release is Σb_j·round(w) within η a
// coordinate, each round within ½, so rounding adds at most √n·(b(1)/2 + η) units.
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
	return e * x.grid.Unit() * x.stretch * (1 + 0x1p-40), nil // rounding of the dozen operations above
}

// decayingErrorBound is errorBound of decaying sums: E = σ√peak·(√n + √(2 ln(1/β))), with the largest variance that a
// release has, soon after a reset. Rounding adds less than 1 + η a step to a coordinate, which the memory adds up to H
// times, and a step of the sum's own bits.
func decayingErrorBound(x calibratedComponent, f decay.Filter, failure float64) float64 {
	if failure == 0 {
		return 0
	}
	n := math.Sqrt(float64(x.n))
	e := math.Sqrt(f.Peak())*(n+math.Sqrt(2*dp.LogUp(1/failure)))*x.scale.Float64() + n*2*float64(f.Memory)
	return e * x.grid.Unit() * x.stretch * (1 + 0x1p-40) // rounding of the dozen operations above
}
