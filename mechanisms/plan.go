package mechanisms

import (
	"errors"
	"fmt"

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
	Scale      noise.Scale // s, of a node, lattice units
	Levels     uint8       // h
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
	h := windowtree.Depth(c.Window)
	p := Plan{Name: c.Name, Grid: grid, Levels: uint8(h)}
	if kind.paper {
		p.Scale = paperScale(c, kind, grid, h)
	} else {
		p.Scale = privacyScale(c, kind, grid, h)
	}
	if _, err := newSampler(kind, p.Scale, c.Dimension); err != nil {
		return Plan{}, fmt.Errorf("mechanisms: epsilon %g, delta %g, window %d: %w", c.Budget.Epsilon, c.Budget.Delta, c.Window, err)
	}
	p.ErrorBound = errorBound(c, kind, grid, p.Scale, h)
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
	case err != nil || c.Window == 0 || c.Window&(c.Window-1) != 0:
		return nil // Config.Validate says so
	case p.Name != c.Name:
		return fmt.Errorf("mechanisms: plan is of %q, configured is %q", p.Name, c.Name)
	case p.Grid != grid:
		return fmt.Errorf("mechanisms: plan has another lattice than clip %g", c.Clip)
	case int(p.Levels) != windowtree.Depth(c.Window):
		return fmt.Errorf("mechanisms: plan has %d levels, window %d has %d", p.Levels, c.Window, windowtree.Depth(c.Window))
	case c.Failure > 0 && p.ErrorBound == 0:
		return fmt.Errorf("mechanisms: plan has no error bound, failure %g needs one", c.Failure)
	}
	return nil
}

// loss returns µ of Gaussian noise, Δ√h/s, or ε of Gamma noise, Δh/s, or of Laplace noise, √n·Δh/s, rounded up.
func (p Plan) loss(c Config, kind family) float64 {
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
