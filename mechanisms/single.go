package mechanisms

import (
	"fmt"

	"oriel/mechanisms/dp"
	"oriel/mechanisms/lattice"
	"oriel/mechanisms/noise"
	"oriel/mechanisms/once"
)

// single is noise in single steps: a tree of one node, which an event leaves with its step.
type single struct{}

func (single) problems(c Config, bad func(format string, args ...any)) {
	noFilter(c, bad)
}

func (single) shape(p *Plan, _ Config) (bits int, err error) {
	p.Levels = 1
	return lattice.CoarseBits, nil
}

func (single) calibrate(x *piece, _ Plan, c Config, kind family) (float64, error) {
	x.scale = nodeScale(*x, kind.Law, oneNode())
	return errorBound(*x, kind.Law, c.Failure, 1), nil
}

func (single) check(p Plan) error {
	if p.Levels != 1 {
		return fmt.Errorf("mechanisms: plan: levels %d: %s has one", p.Levels, p.Name)
	}
	return withoutFilter(p)
}

func (single) matches(Plan, Config) error { return nil }

func (single) loss(x piece, _ Plan, _ Config, kind family) (float64, dp.Curve) {
	return nodeLoss(x, kind.Law, oneNode()), nil
}

func (single) sums(x piece, _ Plan, _ Config, sampler noise.Sampler) (func() Sum, error) {
	first, err := once.New(x.grid, x.n, sampler, x.instance)
	return func() Sum { return first.Fresh() }, err
}

func oneNode() load { return load{squares: dp.Exact(1), total: dp.Exact(1)} }
