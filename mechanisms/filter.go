package mechanisms

import (
	"errors"
	"fmt"

	"oriel/mechanisms/blt"
	"oriel/mechanisms/decay"
	"oriel/mechanisms/dp"
	"oriel/mechanisms/lattice"
	"oriel/mechanisms/noise"
)

// filter is noise of steps through the filter of blt.
type filter struct {
	window uint64 // W, steps
}

func (f filter) problems(c Config, bad func(format string, args ...any)) {
	if f.window < 1 || f.window > blt.MaxWindow {
		bad("window %d: not in [1, 2^22]", f.window)
	}
}

func (f filter) shape(p *Calibration, c Config) (bits int, err error) {
	if p.Filter, err = blt.Fit(f.window, c.AgeWeight, c.Poles); err != nil {
		return 0, fmt.Errorf("mechanisms: %w", err)
	}
	return lattice.CoarseBits, nil
}

func (f filter) calibrate(x *calibratedComponent, p Calibration, c Config, _ definition) (bound float64, err error) {
	if x.scale, err = f.lossByAge(*x, p, c).ScaleFor(f.window, x.budget); err != nil {
		return 0, fmt.Errorf("mechanisms: %w", err)
	}
	return filterErrorBound(*x, p.Filter, c.Failure)
}

func (filter) check(p Calibration) error {
	if p.Levels != 0 {
		return fmt.Errorf("mechanisms: plan: %s has either levels or a filter", p.Name)
	}
	if err := p.Filter.Validate(); err != nil {
		return fmt.Errorf("mechanisms: plan: %w", err)
	}
	return nil
}

func (filter) matches(p Calibration, c Config) error {
	if p.Decays() {
		return fmt.Errorf("mechanisms: plan has memory %d, configured is a window", p.Decay.Memory)
	}
	if c.Poles != 0 && c.Poles != int(p.Filter.Count) {
		return fmt.Errorf("mechanisms: plan has %d poles, configured are %d", p.Filter.Count, c.Poles)
	}
	return nil
}

func (f filter) loss(x calibratedComponent, p Calibration, c Config, _ definition) (float64, dp.Curve) {
	curve := f.lossByAge(x, p, c)
	return curve.Mu(f.window), curve
}

func (filter) sums(x calibratedComponent, p Calibration, _ Config, sampler noise.Sampler) (func() Sum, error) {
	first, err := blt.New(p.Filter, x.scale, x.grid, x.n, sampler, x.instance)
	return func() Sum { return first.Fresh() }, err
}

// lossByAge is a loss by age that noise can be calibrated to.
type lossByAge interface {
	dp.Curve
	ScaleFor(age uint64, mu float64) (noise.Scale, error)
}

// lossByAge is a component's loss of the unit that c names.
func (f filter) lossByAge(x calibratedComponent, p Calibration, c Config) lossByAge {
	event := blt.Loss{Filter: p.Filter, Square: x.square.Lo, N: x.n, Scale: x.scale}
	if separation, several := c.Unit.EventSeparation(); several {
		return blt.UserLoss{Loss: event, Separation: separation, Window: f.window}
	}
	return event
}

// decaying is noise of steps through the filter of forget, under sums that decay.
type decaying struct {
	memory uint64 // H, steps
}

func (f decaying) problems(c Config, bad func(format string, args ...any)) {
	if f.memory < decay.MinMemory || f.memory > decay.MaxMemory {
		bad("memory %d: not in [%d, %d]", f.memory, decay.MinMemory, decay.MaxMemory)
	}
	if c.AgeWeight != 0 || c.Poles != 0 {
		bad("age weight %g, poles %d: with a memory the filter is fitted for the whole life", c.AgeWeight, c.Poles)
	}
}

func (f decaying) shape(p *Calibration, c Config) (bits int, err error) {
	if p.Decay, err = decay.Fit(f.memory); err != nil {
		return 0, fmt.Errorf("mechanisms: %w", err)
	}
	return leastBits(p.Decay, c)
}

// leastBits returns the bits of the coarsest lattice on which rounding costs next to nothing over a life, of all
// components.
func leastBits(f decay.Filter, c Config) (least int, err error) {
	for _, part := range c.Contribution.Components {
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

func (decaying) calibrate(x *calibratedComponent, p Calibration, c Config, _ definition) (bound float64, err error) {
	if x.scale, err = lossForLife(*x, p, c).ScaleFor(x.budget); err != nil {
		return 0, fmt.Errorf("mechanisms: %w", err)
	}
	return decayingErrorBound(*x, p.Decay, c.Failure), nil
}

func (decaying) check(p Calibration) error {
	if p.Levels != 0 || p.Filter != (blt.Filter{}) {
		return fmt.Errorf("mechanisms: plan: %s has levels, a filter or a memory, one of them", p.Name)
	}
	if err := p.Decay.Validate(); err != nil {
		return fmt.Errorf("mechanisms: plan: %w", err)
	}
	return nil
}

// errCoarse is a plan whose lattice makes rounding add up over a life.
var errCoarse = errors.New("mechanisms: plan: its lattice is coarser than its memory needs")

func (f decaying) matches(p Calibration, c Config) error {
	if p.Decay.Memory != f.memory {
		return fmt.Errorf("mechanisms: plan has memory %d, configured is %d", p.Decay.Memory, f.memory)
	}
	least, err := leastBits(p.Decay, c)
	if err == nil && p.Grid.Bits() < least {
		err = errCoarse
	}
	return err
}

func (decaying) loss(x calibratedComponent, p Calibration, c Config, _ definition) (float64, dp.Curve) {
	curve := lossForLife(x, p, c)
	return curve.Life(), curve
}

func (decaying) sums(x calibratedComponent, p Calibration, _ Config, sampler noise.Sampler) (func() Sum, error) {
	first, err := decay.New(p.Decay, x.scale, x.grid, x.n, sampler, x.instance)
	return func() Sum { return first.Fresh() }, err
}

// lifetimeLoss is a loss by age that ends, and that noise can be calibrated to.
type lifetimeLoss interface {
	dp.Curve
	Life() float64
	ScaleFor(mu float64) (noise.Scale, error)
}

// lossForLife is a component's loss of the unit that c names.
func lossForLife(x calibratedComponent, p Calibration, c Config) lifetimeLoss {
	event := decay.Loss{Filter: p.Decay, Square: x.square, N: x.n, Scale: x.scale}
	if separation, several := c.Unit.EventSeparation(); several {
		return decay.UserLoss{Loss: event, Separation: separation, Window: c.ExchangeSteps()}
	}
	return event
}
