package mechanisms

import (
	"fmt"
	"math"
	"math/big"

	"oriel/mechanisms/blt"
	"oriel/mechanisms/dp"
	"oriel/mechanisms/lattice"
	"oriel/mechanisms/noise"
)

// Formulas work at this many bits, and are moved outwards by a relative 2^margin, which covers their few operations. A scale is moved
// further than a claim, so that a claim recomputed from it is not above what it was calibrated to.
const (
	precision   = 256
	scaleMargin = -200
	claimMargin = -240
)

// sensitivity returns Δ in lattice units. Leaves have integer entries with Σnᵢ² ≤ Λ², checked last, so two differ by at most 2Λ and one
// differs from the null leaf by at most Λ. The distance of two batches is that of their one differing leaf. An event of a user is exchanged
// for any other or for a null event: 2Λ under both adjacencies.
func sensitivity(g lattice.Grid, c Config) int64 {
	if c.Adjacency == dp.ZeroOut && c.Separation == 0 {
		return g.Lambda
	}
	return 2 * g.Lambda
}

// load is how often the events of one unit of privacy lie under nodes, within one window: c_x of them under node x.
type load struct {
	squares *big.Float // at least Σc_x²
	total   *big.Float // at least Σc_x
}

// moved returns how far a unit moves the noise of all nodes, in lattice units: the nodes are shifted by vectors of ℓ2 norm c_xΔ at most.
//
//	Gaussian  Δ√(Σc_x²)     the nodes are one Gaussian mechanism
//	Gamma     ΔΣc_x         a density ratio a node
//	Laplace   √n·ΔΣc_x      the same in the ℓ1 norm, at most √n times the ℓ2 norm
func (l load) moved(c Config, kind family, g lattice.Grid) *big.Float {
	x := exact(float64(sensitivity(g, c)))
	switch kind.noise {
	case gaussianNoise:
		x.Mul(x, root(l.squares))
	case gammaNoise:
		x.Mul(x, l.total)
	case laplaceNoise:
		x.Mul(x, l.total).Mul(x, root(exact(float64(c.Dimension))))
	}
	return x
}

// nodeScale returns the noise scale of a node in lattice units that proves the budget, rounded up: what the unit moves over µ or ε.
func nodeScale(c Config, kind family, g lattice.Grid, l load) noise.Scale {
	budget := c.Budget.Epsilon
	if kind.noise == gaussianNoise {
		budget = dp.GaussianMu(c.Budget)
	}
	x := l.moved(c, kind, g)
	return noise.ScaleUp(up(x.Quo(x, exact(budget)), scaleMargin))
}

// nodeLoss returns the µ or ε of one window that a plan's noise proves, rounded up: what the unit moves over the scale.
func nodeLoss(p Plan, c Config, kind family, l load) float64 {
	x := l.moved(c, kind, p.Grid)
	return up(x.Quo(x, dyadic(p.Scale)), claimMargin)
}

// paperScale returns the scale the paper prints, in lattice units, rounded up: θ = Δ'h/ε by (11) and (15), σ = √8·Δ'h·ln(2/δ)/ε by (13)
// and (16), with Δ' = Config.PaperSensitivity. The formulas are coded as printed; what they prove is Plan.Guarantee's to say.
func paperScale(c Config, kind family, g lattice.Grid, h int) noise.Scale {
	x := exact(c.PaperSensitivity)
	x.Mul(x, exact(float64(h))).Quo(x, exact(c.Budget.Epsilon))
	if kind.noise == gaussianNoise {
		x.Mul(x, root(exact(8))).Mul(x, exact(dp.LogUp(2/c.Budget.Delta)))
	}
	return noise.ScaleUp(up(x.Quo(x, exact(g.Unit())), scaleMargin))
}

// errorBound returns E ≥ ‖ν_t‖₂ with probability 1 − β for any one step, loss units, where ν_t is the noise of a release: of at most h
// nodes, each noise vector rounded to the lattice, which adds at most √n/2 units.
//
//	Gaussian  σ√h(√n + √(2 ln(1/β)))                                  [WDP] §4.2
//	Gamma     θ(√(h(n+1)) + √(2ℓ))(√n + √(2ℓ)), ℓ = ln(2/β)            [WDP] §4.1
//	Laplace   σ√(2(h + √(2hℓ') + ℓ'))(√n + √(2ℓ)), ℓ' = ln(2n/β)
//
// Laplace noise of scale σ is σ√(2E)·Z with E exponential and Z normal: given the E's, a coordinate is normal with variance 2σ²Γ, Γ
// Gamma of shape at most h, which exceeds h + √(2hℓ') + ℓ' with probability at most e^{−ℓ'} = β/(2n); β/2 is for the n normals.
//
// ν_t is the error against the sum of quantised leaves. A leaf differs from its clipped gradient by at most a unit or so times √n, 2⁻²⁴
// of L, and that is no noise of the mechanism: the quantised leaf is the gradient an operator is run on. The conversion to float64
// adds 2⁻⁵³ of the released sum.
func errorBound(c Config, kind family, g lattice.Grid, s noise.Scale, levels int) float64 {
	if c.Failure == 0 {
		return 0
	}
	n, h := float64(c.Dimension), float64(levels)
	l := dp.LogUp(2 / c.Failure)
	e := 0.0
	switch kind.noise {
	case gaussianNoise:
		e = math.Sqrt(h) * (math.Sqrt(n) + math.Sqrt(2*dp.LogUp(1/c.Failure)))
	case gammaNoise:
		e = (math.Sqrt(h*(n+1)) + math.Sqrt(2*l)) * (math.Sqrt(n) + math.Sqrt(2*l))
	case laplaceNoise:
		tail := dp.LogUp(2 * n / c.Failure)
		e = math.Sqrt(2*(h+math.Sqrt(2*h*tail)+tail)) * (math.Sqrt(n) + math.Sqrt(2*l))
	}
	e = (e*s.Float64() + h*math.Sqrt(n)/2) * g.Unit()
	return e * (1 + 0x1p-40) // rounding of the dozen operations above
}

// filterErrorBound is errorBound of blt: E = σ√(Σb²)·(√n + √(2 ln(1/β))). A release is Σb_j·round(w) within η a coordinate, each round within
// ½, so rounding adds at most √n·(b(1)/2 + η) units.
func filterErrorBound(c Config, g lattice.Grid, s noise.Scale, f blt.Filter) (float64, error) {
	if c.Failure == 0 {
		return 0, nil
	}
	r, err := blt.NewResponse(f)
	if err != nil {
		return 0, fmt.Errorf("mechanisms: %w", err)
	}
	n := math.Sqrt(float64(c.Dimension))
	sum, _ := f.Sum().Float64()
	slack, _ := f.Slack().Float64()
	e := math.Sqrt(r.Noise())*(n+math.Sqrt(2*dp.LogUp(1/c.Failure)))*s.Float64() + n*(sum/2+slack)
	return e * g.Unit() * (1 + 0x1p-40), nil // rounding of the dozen operations above
}

// exact returns x without rounding.
func exact(x float64) *big.Float { return new(big.Float).SetPrec(precision).SetFloat64(x) }

func root(x *big.Float) *big.Float { return new(big.Float).Sqrt(x) }

// up returns x·(1 + 2^margin) rounded up, for positive x.
func up(x *big.Float, margin int) float64 {
	slack := new(big.Float).SetMantExp(x, margin)
	return dp.RoundUp(slack.Add(slack, x))
}

// dyadic returns the scale exactly.
func dyadic(s noise.Scale) *big.Float {
	x := new(big.Float).SetPrec(precision).SetUint64(s.Mant)
	return x.SetMantExp(x, s.Exp)
}
