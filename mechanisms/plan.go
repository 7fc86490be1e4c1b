package mechanisms

import (
	"errors"
	"fmt"

	"oriel/mechanisms/blt"
	"oriel/mechanisms/dp"
	"oriel/mechanisms/lattice"
	"oriel/mechanisms/noise"
	"oriel/mechanisms/windowtree"
)

// Plan is what decides a stream's bytes beyond its data: computed once, at opening, and stored with it. Calibration depends on the
// platform's functions, so a restart reads the plan and only checks, by Guarantee, that it proves what is configured.
type Plan struct {
	Name       string
	Grid       lattice.Grid
	Scale      noise.Scale // s, of a node or a step, lattice units
	Levels     uint8       // h of a tree, else 0
	Filter     blt.Filter  // b of blt, else zero
	ErrorBound float64     // E ≥ ‖ν_t‖₂ with probability 1 − Config.Failure for any one step, loss units; 0 when not asked for
}

// ErrUnproved marks a plan that proves less than the configured budget.
var ErrUnproved = errors.New("mechanisms: plan proves less than the configured budget")

// NewPlan calibrates noise to a configuration.
func NewPlan(c Config) (Plan, error) {
	if err := c.Validate(); err != nil {
		return Plan{}, err
	}
	kind, _ := familyOf(c.Name)
	grid, err := lattice.NewGrid(c.Clip)
	if err != nil {
		return Plan{}, err
	}
	p := Plan{Name: c.Name, Grid: grid}
	switch {
	case kind.toeplitz:
		if p.Filter, err = blt.Fit(c.Window, c.AgeWeight, c.Poles); err != nil {
			return Plan{}, fmt.Errorf("mechanisms: %w", err)
		}
		p.Scale, err = blt.ScaleFor(p.Filter, sensitivity(grid, c.Adjacency), c.Dimension, c.Window, dp.GaussianMu(c.Budget))
		if err != nil {
			return Plan{}, fmt.Errorf("mechanisms: %w", err)
		}
		p.ErrorBound, err = filterErrorBound(c, grid, p.Scale, p.Filter)
		if err != nil {
			return Plan{}, fmt.Errorf("mechanisms: %w", err)
		}
	default:
		h := windowtree.Depth(c.Window)
		p.Levels = uint8(h)
		p.Scale = privacyScale(c, kind, grid, h)
		if kind.paper {
			p.Scale = paperScale(c, kind, grid, h)
		}
		p.ErrorBound = errorBound(c, kind, grid, p.Scale, h)
	}
	if _, err := p.newSum(c); err != nil {
		return Plan{}, fmt.Errorf("mechanisms: epsilon %g, delta %g, window %d: %w", c.Budget.Epsilon, c.Budget.Delta, c.Window, err)
	}
	if _, err := p.Guarantee(c); err != nil {
		return Plan{}, err
	}
	return p, nil
}

// Guarantee returns what this plan proves under c, from the plan's integers, rounded against the claim. It is an error when the plan
// is not one of c, or, but for the -paper names, when it proves less than c.Budget. For those names ε is the recomputed one, with
// the true sensitivity, at c.Budget.Delta. Pure-ε mechanisms prove δ = 0.
func (p Plan) Guarantee(c Config) (dp.Guarantee, error) {
	if err := errors.Join(c.Validate(), p.matches(c)); err != nil {
		return dp.Guarantee{}, err
	}
	kind, _ := familyOf(p.Name)
	g := dp.Guarantee{
		Mechanism: p.Name, Window: c.Window, Batch: c.Batch,
		Epsilon: c.Budget.Epsilon, Adjacency: c.Adjacency, Unit: "event",
	}
	if kind.toeplitz {
		g.Curve = p.curve(c)
	}
	loss := p.loss(c, kind)
	if kind.pure {
		if loss > c.Budget.Epsilon && !kind.paper {
			return dp.Guarantee{}, fmt.Errorf("%w: epsilon %g of %g", ErrUnproved, loss, c.Budget.Epsilon)
		}
		if kind.paper {
			g.Epsilon = loss
		}
		return g, nil
	}
	g.Mu, g.Delta = loss, c.Budget.Delta
	if kind.paper {
		g.Epsilon = dp.GaussianEpsilon(g.Mu, g.Delta)
	} else if delta := dp.GaussianDelta(g.Epsilon, g.Mu); delta > g.Delta {
		return dp.Guarantee{}, fmt.Errorf("%w: delta %g of %g at epsilon %g", ErrUnproved, delta, g.Delta, g.Epsilon)
	}
	return g, nil
}

// matches checks that the plan has the shape of c.
func (p Plan) matches(c Config) error {
	if err := p.validate(); err != nil {
		return err
	}
	grid, err := lattice.NewGrid(c.Clip)
	switch {
	case err != nil:
		return nil // Config.Validate says so
	case p.Name != c.Name:
		return fmt.Errorf("mechanisms: plan is of %q, configured is %q", p.Name, c.Name)
	case p.Grid != grid:
		return fmt.Errorf("mechanisms: plan has another lattice than clip %g", c.Clip)
	case p.Levels == 0 && c.Poles != 0 && c.Poles != int(p.Filter.Count):
		return fmt.Errorf("mechanisms: plan has %d poles, configured are %d", p.Filter.Count, c.Poles)
	case p.Levels == 0 || c.Window == 0 || c.Window&(c.Window-1) != 0: // of a tree, Config.Validate says so
	case int(p.Levels) != windowtree.Depth(c.Window):
		return fmt.Errorf("mechanisms: plan has %d levels, window %d has %d", p.Levels, c.Window, windowtree.Depth(c.Window))
	}
	if c.Failure > 0 && p.ErrorBound == 0 {
		return fmt.Errorf("mechanisms: plan has no error bound, failure %g needs one", c.Failure)
	}
	return nil
}

// curve is ε(age) of blt.
func (p Plan) curve(c Config) blt.Loss {
	return blt.Loss{Filter: p.Filter, Delta: sensitivity(p.Grid, c.Adjacency), N: c.Dimension, Scale: p.Scale}
}

// loss returns µ of Gaussian noise, Δ√h/s or that of the curve, or ε of Gamma noise, Δh/s, or of Laplace noise, √n·Δh/s, rounded up.
func (p Plan) loss(c Config, kind family) float64 {
	if kind.toeplitz {
		return p.curve(c).Mu(c.Window)
	}
	x := exact(float64(sensitivity(p.Grid, c.Adjacency)))
	h := exact(float64(p.Levels))
	switch kind.noise {
	case gaussianNoise:
		x.Mul(x, root(h))
	case gammaNoise:
		x.Mul(x, h)
	case laplaceNoise:
		x.Mul(x, h).Mul(x, root(exact(float64(c.Dimension))))
	}
	return up(x.Quo(x, dyadic(p.Scale)), claimMargin)
}

// newSum returns the mechanism of a plan before its first step.
func (p Plan) newSum(c Config) (Sum, error) {
	kind, _ := familyOf(p.Name)
	sampler, err := newSampler(kind, p.Scale, c.Dimension)
	if err != nil {
		return nil, err
	}
	if kind.toeplitz {
		return blt.New(p.Filter, p.Scale, p.Grid, c.Dimension, sampler, 0)
	}
	return windowtree.New(c.Window, p.Grid, c.Dimension, sampler, 0)
}

// newSampler returns the sampler of a plan.
func newSampler(kind family, s noise.Scale, n int) (noise.Sampler, error) {
	switch kind.noise {
	case gaussianNoise:
		return noise.NewGaussian(s)
	case gammaNoise:
		return noise.NewGamma(s, n)
	case laplaceNoise:
		return noise.NewLaplace(s)
	}
	panic(fmt.Sprintf("BUG: mechanisms: no sampler for %s", kind.name))
}
