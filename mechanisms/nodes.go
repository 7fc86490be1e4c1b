package mechanisms

import (
	"fmt"
	"math/bits"

	"oriel/mechanisms/blt"
	"oriel/mechanisms/decay"
	"oriel/mechanisms/dp"
	"oriel/mechanisms/lattice"
	"oriel/mechanisms/noise"
	"oriel/mechanisms/perstep"
	"oriel/mechanisms/windowtree"
)

// maxWindow leaves block and position arithmetic of a tree exact.
const maxWindow = 1 << 62

// tree is noise at the nodes of windowtree.
type tree struct {
	window uint64 // W, steps
}

func (t tree) problems(c Config, bad func(format string, args ...any)) {
	switch {
	case t.window == 0:
		bad("window 0: not a power of two")
	case t.window > maxWindow:
		bad("window %d: above 2^62", t.window)
	case t.window&(t.window-1) != 0:
		bad("window %d: not a power of two, the next is %d", t.window, uint64(1)<<bits.Len64(t.window))
	}
	noFilter(c, bad)
}

func (t tree) shape(p *Calibration, _ Config) (bits int, err error) {
	p.Levels = uint8(windowtree.Depth(t.window))
	return lattice.CoarseBits, nil
}

func (t tree) calibrate(x *calibratedComponent, p Calibration, c Config, kind definition) (float64, error) {
	x.scale = nodeScale(*x, kind.Law, t.exposure(c))
	if kind.Paper {
		x.scale = paperScale(c, kind.Law, x.grid, int(p.Levels))
	}
	return errorBound(*x, kind.Law, c.Failure, int(p.Levels)), nil
}

func (tree) check(p Calibration) error {
	if p.Levels < 1 || p.Levels > 63 {
		return fmt.Errorf("mechanisms: plan: levels %d: not in [1, 63]", p.Levels)
	}
	return withoutFilter(p)
}

func (t tree) matches(p Calibration, _ Config) error {
	if h := windowtree.Depth(t.window); int(p.Levels) != h {
		return fmt.Errorf("mechanisms: plan has %d levels, window %d has %d", p.Levels, t.window, h)
	}
	return nil
}

func (t tree) loss(x calibratedComponent, _ Calibration, c Config, kind definition) (float64, dp.Curve) {
	loss := nodeLoss(x, kind.Law, t.exposure(c))
	if kind.Law != Gaussian {
		return loss, nil
	}
	return loss, windowtree.Loss{
		Window: t.window, Separation: t.separation(c), Square: x.square.Lo, N: x.n, Scale: x.scale,
	}
}

func (t tree) sums(x calibratedComponent, _ Calibration, _ Config, sampler noise.Sampler) (func() Sum, error) {
	first, err := windowtree.New(t.window, x.grid, x.n, sampler, x.instance)
	return func() Sum { return first.Fresh() }, err
}

// separation is that of the unit's events: one event is a user with one event in a window.
func (t tree) separation(c Config) uint64 {
	if separation, several := c.Unit.EventSeparation(); several {
		return separation
	}
	return t.window
}

// exposure is h nodes for one event, and for a user PROOF.md, Lemma 1.
func (t tree) exposure(c Config) exposure {
	total := dp.Float().SetUint64(windowtree.Events(t.window, t.separation(c)))
	return exposure{
		squares: dp.Float().SetInt(windowtree.Squares(t.window, t.separation(c))),
		total:   total.Mul(total, dp.Exact(float64(windowtree.Depth(t.window)))),
	}
}

func noFilter(c Config, bad func(format string, args ...any)) {
	if c.AgeWeight != 0 || c.Poles != 0 {
		bad("age weight %g, poles %d: %s has no filter", c.AgeWeight, c.Poles, c.Name)
	}
}

func withoutFilter(p Calibration) error {
	if p.Filter != (blt.Filter{}) || p.Decay != (decay.Filter{}) {
		return fmt.Errorf("mechanisms: plan: %s has either levels or a filter", p.Name)
	}
	return nil
}

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
