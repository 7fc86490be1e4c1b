package mechanisms

import (
	"fmt"

	"oriel/mechanisms/blt"
	"oriel/mechanisms/dp"
	"oriel/mechanisms/lattice"
	"oriel/mechanisms/noise"
)

// filter is noise of steps through the filter of blt.
type filter struct{}

func (filter) problems(c Config, bad func(format string, args ...any)) {
	if c.Window < 1 || c.Window > blt.MaxWindow {
		bad("window %d: not in [1, 2^22]", c.Window)
	}
}

func (filter) shape(p *Plan, c Config) (bits int, err error) {
	if p.Filter, err = blt.Fit(c.Window, c.AgeWeight, c.Poles); err != nil {
		return 0, fmt.Errorf("mechanisms: %w", err)
	}
	return lattice.CoarseBits, nil
}

func (filter) calibrate(x *piece, p Plan, c Config, _ family) (bound float64, err error) {
	if x.scale, err = lossByAge(*x, p, c).ScaleFor(c.Window, x.budget); err != nil {
		return 0, fmt.Errorf("mechanisms: %w", err)
	}
	return filterErrorBound(*x, p.Filter, c.Failure)
}

func (filter) check(p Plan) error {
	if p.Levels != 0 {
		return fmt.Errorf("mechanisms: plan: %s has either levels or a filter", p.Name)
	}
	if err := p.Filter.Validate(); err != nil {
		return fmt.Errorf("mechanisms: plan: %w", err)
	}
	return nil
}

func (filter) matches(p Plan, c Config) error {
	if c.Poles != 0 && c.Poles != int(p.Filter.Count) {
		return fmt.Errorf("mechanisms: plan has %d poles, configured are %d", p.Filter.Count, c.Poles)
	}
	return nil
}

func (filter) loss(x piece, p Plan, c Config, _ family) (float64, dp.Curve) {
	curve := lossByAge(x, p, c)
	return curve.Mu(c.Window), curve
}

func (filter) sums(x piece, p Plan, _ Config, sampler noise.Sampler) (func() Sum, error) {
	first, err := blt.New(p.Filter, x.scale, x.grid, x.n, sampler, x.instance)
	return func() Sum { return first.Fresh() }, err
}

// lossByAge is a part's loss of the unit that c names.
func lossByAge(x piece, p Plan, c Config) blt.Loss {
	l := blt.Loss{Filter: p.Filter, Square: x.square.Lo, N: x.n, Scale: x.scale}
	if c.Separation > 0 {
		l.Separation, l.Window = c.Separation, c.Window
	}
	return l
}
