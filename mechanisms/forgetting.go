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
type forgetting struct {
	memory uint64 // H, steps
}

func (f forgetting) problems(c Config, bad func(format string, args ...any)) {
	if f.memory < forget.MinMemory || f.memory > forget.MaxMemory {
		bad("memory %d: not in [%d, %d]", f.memory, forget.MinMemory, forget.MaxMemory)
	}
	if c.AgeWeight != 0 || c.Poles != 0 {
		bad("age weight %g, poles %d: with a memory the filter is fitted for the whole life", c.AgeWeight, c.Poles)
	}
}

func (f forgetting) shape(p *Plan, c Config) (bits int, err error) {
	if p.Forget, err = forget.Fit(f.memory); err != nil {
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
			return 0, fmt.Errorf("mechanisms: memory %d, dimension %d: %w", f.Memory, part.Size, err)
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

func (f forgetting) matches(p Plan, c Config) error {
	if p.Forget.Memory != f.memory {
		return fmt.Errorf("mechanisms: plan has memory %d, configured is %d", p.Forget.Memory, f.memory)
	}
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

// lossOfLife is a loss by age that ends, and that noise can be calibrated to.
type lossOfLife interface {
	dp.Curve
	Life() float64
	ScaleFor(mu float64) (noise.Scale, error)
}

// lossForLife is a part's loss of the unit that c names.
func lossForLife(x piece, p Plan, c Config) lossOfLife {
	event := forget.Loss{Filter: p.Forget, Square: x.square, N: x.n, Scale: x.scale}
	if separation, several := c.Unit.Train(); several {
		return forget.UserLoss{Loss: event, Separation: separation, Window: c.Among()}
	}
	return event
}
