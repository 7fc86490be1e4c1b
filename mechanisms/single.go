package mechanisms

import (
	"fmt"

	"oriel/mechanisms/dp"
	"oriel/mechanisms/noise"
	"oriel/mechanisms/once"
)

// single is noise in single steps: a tree of one node, which an event leaves with its step.
type single struct{}

func (single) problems(c Config, bad func(format string, args ...any)) {
	if c.Window != 0 {
		bad("window %d: %s has none, its guarantee never ends", c.Window, c.Name)
	}
	if c.Separation != 0 {
		bad("separation %d: %s has no user level", c.Separation, c.Name)
	}
	if c.Horizon != 0 {
		bad("horizon %d: %s needs none, its guarantee never ends", c.Horizon, c.Name)
	}
	noFilter(c, bad)
}

func (single) calibrate(p *Plan, c Config, kind family) error {
	p.Levels = 1
	p.Scale = nodeScale(c, kind, p.Grid, oneNode())
	p.ErrorBound = errorBound(c, kind, p.Grid, p.Scale, 1)
	return nil
}

func (single) check(p Plan) error {
	if p.Levels != 1 {
		return fmt.Errorf("mechanisms: plan: levels %d: %s has one", p.Levels, p.Name)
	}
	return withoutFilter(p)
}

func (single) matches(Plan, Config) error { return nil }

func (single) loss(p Plan, c Config, kind family) (float64, dp.Curve) {
	return nodeLoss(p, c, kind, oneNode()), nil
}

func (single) newSum(p Plan, c Config, sampler noise.Sampler) (Sum, error) {
	return once.New(p.Grid, c.Dimension, sampler, 0)
}

func oneNode() load { return load{squares: exact(1), total: exact(1)} }
