package mechanisms

import (
	"fmt"

	"oriel/mechanisms/dp"
	"oriel/mechanisms/lattice"
	"oriel/mechanisms/noise"
	"oriel/mechanisms/perstep"
)

// perStep is noise in single steps: a tree of one node, which an event leaves with its step.
type perStep struct{}

func (perStep) problems(c Config, bad func(format string, args ...any)) {
	noFilter(c, bad)
}

func (perStep) shape(p *Calibration, _ Config) (bits int, err error) {
	p.Levels = 1
	return lattice.CoarseBits, nil
}

func (perStep) calibrate(x *calibratedComponent, _ Calibration, c Config, kind definition) (float64, error) {
	x.scale = nodeScale(*x, kind.Law, oneNode())
	return errorBound(*x, kind.Law, c.Failure, 1), nil
}

func (perStep) check(p Calibration) error {
	if p.Levels != 1 {
		return fmt.Errorf("mechanisms: plan: levels %d: %s has one", p.Levels, p.Name)
	}
	return withoutFilter(p)
}

func (perStep) matches(Calibration, Config) error { return nil }

func (perStep) loss(x calibratedComponent, _ Calibration, _ Config, kind definition) (float64, dp.Curve) {
	return nodeLoss(x, kind.Law, oneNode()), nil
}

func (perStep) sums(x calibratedComponent, _ Calibration, _ Config, sampler noise.Sampler) (func() Sum, error) {
	first, err := perstep.New(x.grid, x.n, sampler, x.instance)
	return func() Sum { return first.Fresh() }, err
}

func oneNode() exposure { return exposure{squares: dp.Exact(1), total: dp.Exact(1)} }
