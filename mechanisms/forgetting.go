package mechanisms

import (
	"errors"
	"fmt"

	"oriel/mechanisms/blt"
	"oriel/mechanisms/dp"
	"oriel/mechanisms/forget"
	"oriel/mechanisms/lattice"
	"oriel/mechanisms/noise"
)

// forgetting is noise of steps through the filter of forget, under sums that decay.
type forgetting struct{}

func (forgetting) problems(c Config, bad func(format string, args ...any)) {
	if c.Memory < forget.MinMemory || c.Memory > forget.MaxMemory {
		bad("memory %d: not in [%d, %d]", c.Memory, forget.MinMemory, forget.MaxMemory)
	}
	if c.Window != 0 || c.Horizon != 0 {
		bad("window %d, horizon %d: with a memory there is none, the guarantee never ends", c.Window, c.Horizon)
	}
	if c.AgeWeight != 0 || c.Poles != 0 {
		bad("age weight %g, poles %d: with a memory the filter is fitted for the whole life", c.AgeWeight, c.Poles)
	}
	if c.UserWindow > MaxUserWindow {
		bad("user window %d: above 2^40", c.UserWindow)
	}
	if (c.Separation > 0) != (c.UserWindow > 0) {
		bad("separation %d, user window %d: with a memory a user level needs both, as no bound holds of a user who comes for ever",
			c.Separation, c.UserWindow)
	}
}

func (forgetting) shape(p *Plan, c Config) (bits int, err error) {
	if p.Forget, err = forget.Fit(c.Memory); err != nil {
		return 0, fmt.Errorf("mechanisms: %w", err)
	}
	return leastBits(p.Forget, c)
}

// leastBits returns the bits of the coarsest lattice on which rounding costs next to nothing over a life, of all parts.
func leastBits(f forget.Filter, c Config) (least int, err error) {
	for _, part := range c.Leaf.Parts {
		bits, err := f.Bits(part.Size, func(bits int) lattice.Int128 {
			grid, err := lattice.NewFineGrid(part.Clip, bits)
			if err != nil {
				return lattice.Int128{}
			}
			return c.square(part, grid)
		})
		if err != nil {
			return 0, fmt.Errorf("mechanisms: memory %d, dimension %d: %w", c.Memory, part.Size, err)
		}
		least = max(least, bits)
	}
	return least, nil
}

func (forgetting) calibrate(x *piece, p Plan, c Config, _ family) (bound float64, err error) {
	if x.scale, err = lossForLife(*x, p, c).ScaleFor(x.budget); err != nil {
		return 0, fmt.Errorf("mechanisms: %w", err)
	}
	return forgettingErrorBound(*x, p.Forget, c.Failure), nil
}

func (forgetting) check(p Plan) error {
	if p.Levels != 0 || p.Filter != (blt.Filter{}) {
		return fmt.Errorf("mechanisms: plan: %s has levels, a filter or a memory, one of them", p.Name)
	}
	if err := p.Forget.Validate(); err != nil {
		return fmt.Errorf("mechanisms: plan: %w", err)
	}
	return nil
}

// errCoarse is a plan whose lattice makes rounding add up over a life.
var errCoarse = errors.New("mechanisms: plan: its lattice is coarser than its memory needs")

func (forgetting) matches(p Plan, c Config) error {
	least, err := leastBits(p.Forget, c)
	if err == nil && p.Grid.Bits() < least {
		err = errCoarse
	}
	return err
}

func (forgetting) loss(x piece, p Plan, c Config, _ family) (float64, dp.Curve) {
	curve := lossForLife(x, p, c)
	return curve.Life(), curve
}

func (forgetting) sums(x piece, p Plan, _ Config, sampler noise.Sampler) (func() Sum, error) {
	first, err := forget.New(p.Forget, x.scale, x.grid, x.n, sampler, x.instance)
	return func() Sum { return first.Fresh() }, err
}

// lossForLife is a part's loss of the unit that c names.
func lossForLife(x piece, p Plan, c Config) forget.Loss {
	return forget.Loss{
		Filter: p.Forget, Square: x.square, N: x.n, Scale: x.scale, Separation: c.Separation, Window: c.UserWindow,
	}
}
