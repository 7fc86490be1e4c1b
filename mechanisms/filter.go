package mechanisms

import (
	"fmt"

	"oriel/mechanisms/blt"
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
