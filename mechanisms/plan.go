package mechanisms

import (
	"errors"
	"fmt"

	"oriel/mechanisms/blt"
	"oriel/mechanisms/dp"
	"oriel/mechanisms/lattice"
	"oriel/mechanisms/noise"
)

// Plan is what decides a stream's bytes beyond its data: computed once, at opening, and stored with it. Calibration
// depends on the platform's functions, so a restart reads the plan and only checks, by Guarantee, that it proves what
// is configured.
type Plan struct {
	Name       string
	Grid       lattice.Grid
	Scale      noise.Scale // s, of a node or a step, lattice units
	Levels     uint8       // h of a tree, 1 of single steps, 0 of blt
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
	if err := kind.structure.calibrate(&p, c, kind); err != nil {
		return Plan{}, err
	}
	if _, err := p.newSum(c); err != nil {
		return Plan{}, fmt.Errorf("mechanisms: epsilon %g, delta %g, window %d: %w", c.Budget.Epsilon, c.Budget.Delta, c.Window, err)
	}
	if _, err := p.Guarantee(c); err != nil {
		return Plan{}, err
	}
	return p, nil
}

// Guarantee returns what this plan proves under c, from the plan's integers, rounded against the claim. It is an error
// when the plan is not one of c, or, but for the -paper names, when it proves less than c.Budget. For those names ε is
// the recomputed one, with the true sensitivity, at c.Budget.Delta. Pure-ε mechanisms prove δ = 0.
func (p Plan) Guarantee(c Config) (dp.Guarantee, error) {
	if err := p.matches(c); err != nil {
		return dp.Guarantee{}, err
	}
	g, loss := p.proves(c)
	switch kind, _ := familyOf(p.Name); {
	case kind.paper:
		g.Epsilon = recomputed(g, loss)
		return g, nil
	case kind.pure:
		if loss > c.Budget.Epsilon {
			return dp.Guarantee{}, fmt.Errorf("%w: epsilon %g of %g", ErrUnproved, loss, c.Budget.Epsilon)
		}
	default:
		if delta := dp.GaussianDelta(c.Budget.Epsilon, loss); delta > c.Budget.Delta {
			return dp.Guarantee{}, fmt.Errorf("%w: delta %g of %g at epsilon %g", ErrUnproved, delta, c.Budget.Delta, c.Budget.Epsilon)
		}
	}
	g.Epsilon = c.Budget.Epsilon
	return g, nil
}

// EventGuarantee returns what the plan of a user level proves of one event exchanged for another of the same user id,
// under c.Adjacency: ε recomputed at c.Budget.Delta. Exchange across ids is not covered: it changes which later events
// of both users are accepted.
func (p Plan) EventGuarantee(c Config) (dp.Guarantee, error) {
	if _, err := p.Guarantee(c); err != nil {
		return dp.Guarantee{}, err
	}
	c.Separation = 0
	g, loss := p.proves(c)
	g.Epsilon = recomputed(g, loss)
	return g, nil
}

// proves returns a guarantee without its ε, and µ or ε of one window, rounded up.
func (p Plan) proves(c Config) (g dp.Guarantee, loss float64) {
	kind, _ := familyOf(p.Name)
	g = dp.Guarantee{
		Mechanism: p.Name, Window: c.Window, Batch: c.Batch, Adjacency: c.Adjacency,
		Unit: "event", Separation: c.Separation, Horizon: c.Horizon,
	}
	if c.Separation > 0 {
		g.Unit = "user"
	}
	loss, g.Curve = kind.structure.loss(p, c, kind)
	if !kind.pure {
		g.Mu, g.Delta = loss, c.Budget.Delta
	}
	return g, loss
}

// recomputed returns the ε of a loss at the guarantee's δ.
func recomputed(g dp.Guarantee, loss float64) float64 {
	if g.Mu == 0 {
		return loss
	}
	return dp.GaussianEpsilon(g.Mu, g.Delta)
}

// matches checks that the configuration is valid and the plan has its shape.
func (p Plan) matches(c Config) error {
	if err := errors.Join(c.Validate(), p.validate()); err != nil {
		return err
	}
	grid, err := lattice.NewGrid(c.Clip)
	switch {
	case err != nil:
		return err
	case p.Name != c.Name:
		return fmt.Errorf("mechanisms: plan is of %q, configured is %q", p.Name, c.Name)
	case p.Grid != grid:
		return fmt.Errorf("mechanisms: plan has another lattice than clip %g", c.Clip)
	case c.Failure > 0 && p.ErrorBound == 0:
		return fmt.Errorf("mechanisms: plan has no error bound, failure %g needs one", c.Failure)
	}
	kind, _ := familyOf(p.Name)
	return kind.structure.matches(p, c)
}

// newSum returns the mechanism of a plan before its first step.
func (p Plan) newSum(c Config) (Sum, error) {
	kind, _ := familyOf(p.Name)
	sampler, err := newSampler(kind, p.Scale, c.Dimension)
	if err != nil {
		return nil, err
	}
	return kind.structure.newSum(p, c, sampler)
}

// SumOver returns the mechanism of a plan before its first step, which draws from sampler in place of the plan's: for
// audits and tests, which know what it draws. It has no privacy of its own; Open is the way to get a stream.
func (p Plan) SumOver(c Config, sampler noise.Sampler) (Sum, error) {
	if err := p.matches(c); err != nil {
		return nil, err
	}
	kind, _ := familyOf(p.Name)
	return kind.structure.newSum(p, c, sampler)
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
