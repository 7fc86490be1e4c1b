package mechanisms

import (
	"fmt"

	"oriel/mechanisms/blt"
	"oriel/mechanisms/dp"
	"oriel/mechanisms/noise"
)

// filter is noise of steps through the filter of blt.
type filter struct{}

func (filter) problems(c Config, bad func(format string, args ...any)) {
	if c.Window < 1 || c.Window > blt.MaxWindow {
		bad("window %d: not in [1, 2^22]", c.Window)
	}
}

func (filter) calibrate(p *Plan, c Config, _ family) (err error) {
	if p.Filter, err = blt.Fit(c.Window, c.AgeWeight, c.Poles); err != nil {
		return fmt.Errorf("mechanisms: %w", err)
	}
	if p.Scale, err = lossByAge(*p, c).ScaleFor(c.Window, dp.GaussianMu(c.Budget)); err != nil {
		return fmt.Errorf("mechanisms: %w", err)
	}
	p.ErrorBound, err = filterErrorBound(c, p.Grid, p.Scale, p.Filter)
	return err
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

func (filter) loss(p Plan, c Config, _ family) (float64, dp.Curve) {
	curve := lossByAge(p, c)
	return curve.Mu(c.Window), curve
}

func (filter) newSum(p Plan, c Config, sampler noise.Sampler) (Sum, error) {
	return blt.New(p.Filter, p.Scale, p.Grid, c.Dimension, sampler, 0)
}

// lossByAge is the loss of the unit that c names.
func lossByAge(p Plan, c Config) blt.Loss {
	l := blt.Loss{Filter: p.Filter, Delta: sensitivity(p.Grid, c), N: c.Dimension, Scale: p.Scale}
	if c.Separation > 0 {
		l.Separation, l.Window = c.Separation, c.Window
	}
	return l
}
