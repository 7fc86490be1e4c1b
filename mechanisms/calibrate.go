package mechanisms

import (
	"fmt"
	"math"
	"math/big"
	"slices"

	"oriel/mechanisms/blt"
	"oriel/mechanisms/decay"
	"oriel/mechanisms/dp"
	"oriel/mechanisms/lattice"
	"oriel/mechanisms/noise"
)

// calibratedComponent is a component under a configuration, with all that its noise and its loss take.
type calibratedComponent struct {
	instance uint16
	n        int
	grid     lattice.Grid
	square   lattice.Int128 // Δ², units²
	stretch  float64        // √max k_i
	budget   float64        // µ or ε
	scale    noise.Scale
}

// shareMargin is what components leave of the budget, relative: so much more than the rounding of a share and of the
// sum of losses that what is recomputed from the integers of all components is not above what they were calibrated to.
const shareMargin = 0x1p-48

// components returns the parts of a valid configuration on their grids, whose Λ have so many bits, without scales and
// budgets. It refuses a lattice on which a batch has no bound in 64 bits.
func (c Config) components(size int) ([]calibratedComponent, error) {
	out := make([]calibratedComponent, len(c.Contribution.Components))
	for i, p := range c.Contribution.Components {
		grid, err := lattice.NewFineGrid(p.Clip, size)
		if err != nil {
			return nil, err
		}
		if most := maxPartial / uint64(grid.Lambda); c.Batch > most {
			return nil, fmt.Errorf("mechanisms: batch %d: above %d, the most on a lattice as fine as a stream of %s and dimension %d need",
				c.Batch, most, c.Scope.Words().Length, p.Size)
		}
		out[i] = calibratedComponent{instance: uint16(i), n: p.Size, grid: grid, square: c.square(p, grid), stretch: 1}
		if p.Scales != nil {
			out[i].stretch = math.Sqrt(float64(slices.Max(p.Scales)))
		}
	}
	return out, nil
}

// share gives each piece its budget: all of it to one that is alone.
func (c Config) share(pieces []calibratedComponent, law Law) {
	budget := c.Budget.Epsilon
	if law == Gaussian {
		budget = dp.GaussianMu(c.Budget)
		if c.MaxMu > 0 {
			budget = min(budget, c.MaxMu)
		}
	}
	shares := 0.0 // exact: below 2⁴²
	for _, p := range c.Contribution.Components {
		shares += float64(p.Share)
	}
	for i, p := range c.Contribution.Components {
		pieces[i].budget = budget
		if len(pieces) > 1 {
			pieces[i].budget = float64(float64(budget*componentBudget(law, float64(p.Share)/shares)) * (1 - shareMargin))
		}
	}
}

// componentBudget returns how much of µ or ε a share of the budget is: µ² and ε are what is shared.
func componentBudget(law Law, share float64) float64 {
	if law == Gaussian {
		return math.Sqrt(share)
	}
	return share
}

// square returns Δ² in units². Under replace an event is exchanged for any other or for one that gives no contribution,
// whose contribution is zero; at user level under both adjacencies.
//
// Of the default contribution Δ is 2Λ, or Λ against the null event: contributions have integer entries with Σnᵢ² ≤ Λ²,
// checked last. The distance of two batches is that of their one differing contribution.
func (c Config) square(p Component, grid lattice.Grid) lattice.Int128 {
	replace, zeroOut := p.distances(grid)
	if c.Unit.AgainstNull() || replace.Less(zeroOut) {
		return zeroOut
	}
	return replace
}

// Sensitivity returns Δ of component 0 in loss units, exactly when it is the default contribution: how far the exchange
// of one event moves the contribution sum of its step, in the ℓ2 norm of scaled coordinates.
func (p Calibration) Sensitivity(c Config) float64 {
	square := c.square(c.Contribution.Components[0], p.Grid)
	return float64(math.Sqrt(lattice.Grid{}.Float64(square)) * p.Grid.Unit())
}

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

// paperScale returns the scale the paper prints, in lattice units, rounded up: θ = Δ'h/ε by (11) and (15),
// σ = √8·Δ'h·ln(2/δ)/ε by (13) and (16), with Δ' = Config.PaperSensitivity. The formulas are coded as printed; what
// they prove is Calibration.Guarantee's to say.
func paperScale(c Config, law Law, g lattice.Grid, h int) noise.Scale {
	x := dp.Exact(c.PaperSensitivity)
	x.Mul(x, dp.Exact(float64(h))).Quo(x, dp.Exact(c.Budget.Epsilon))
	if law == Gaussian {
		x.Mul(x, dp.Root(dp.Exact(8))).Mul(x, dp.Exact(dp.LogUp(2/c.Budget.Delta)))
	}
	return noise.ScaleUp(dp.Up(x.Quo(x, dp.Exact(g.Unit())), scaleMargin))
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
