package mechanisms

import (
	"fmt"
	"math/bits"

	"oriel/mechanisms/blt"
	"oriel/mechanisms/dp"
	"oriel/mechanisms/forget"
	"oriel/mechanisms/lattice"
	"oriel/mechanisms/noise"
	"oriel/mechanisms/windowtree"
)

// maxWindow leaves block and position arithmetic of a tree exact.
const maxWindow = 1 << 62

// tree is noise at the nodes of windowtree.
type tree struct{}

func (tree) problems(c Config, bad func(format string, args ...any)) {
	switch {
	case c.Window == 0:
		bad("window 0: not a power of two")
	case c.Window > maxWindow:
		bad("window %d: above 2^62", c.Window)
	case c.Window&(c.Window-1) != 0:
		bad("window %d: not a power of two, the next is %d", c.Window, uint64(1)<<bits.Len64(c.Window))
	}
	noFilter(c, bad)
}

func (tree) shape(p *Plan, c Config) (bits int, err error) {
	p.Levels = uint8(windowtree.Depth(c.Window))
	return lattice.CoarseBits, nil
}

func (tree) calibrate(x *piece, p Plan, c Config, kind family) (float64, error) {
	x.scale = nodeScale(*x, kind.Law, treeLoad(c))
	if kind.Paper {
		x.scale = paperScale(c, kind.Law, x.grid, int(p.Levels))
	}
	return errorBound(*x, kind.Law, c.Failure, int(p.Levels)), nil
}

func (tree) check(p Plan) error {
	if p.Levels < 1 || p.Levels > 63 {
		return fmt.Errorf("mechanisms: plan: levels %d: not in [1, 63]", p.Levels)
	}
	return withoutFilter(p)
}

func (tree) matches(p Plan, c Config) error {
	if h := windowtree.Depth(c.Window); int(p.Levels) != h {
		return fmt.Errorf("mechanisms: plan has %d levels, window %d has %d", p.Levels, c.Window, h)
	}
	return nil
}

func (tree) loss(x piece, _ Plan, c Config, kind family) (float64, dp.Curve) {
	loss := nodeLoss(x, kind.Law, treeLoad(c))
	if kind.Law != Gaussian {
		return loss, nil
	}
	return loss, windowtree.Loss{
		Window: c.Window, Separation: separation(c), Square: x.square.Lo, N: x.n, Scale: x.scale,
	}
}

func (tree) sums(x piece, _ Plan, c Config, sampler noise.Sampler) (func() Sum, error) {
	first, err := windowtree.New(c.Window, x.grid, x.n, sampler, x.instance)
	return func() Sum { return first.Fresh() }, err
}

// separation is that of the unit's events: one event is a user with one event in a window.
func separation(c Config) uint64 {
	if c.Separation == 0 {
		return c.Window
	}
	return c.Separation
}

// treeLoad is h nodes for one event, and for a user PROOF.md, Lemma 1.
func treeLoad(c Config) load {
	total := dp.Float().SetUint64(windowtree.Events(c.Window, separation(c)))
	return load{
		squares: dp.Float().SetInt(windowtree.Squares(c.Window, separation(c))),
		total:   total.Mul(total, dp.Exact(float64(windowtree.Depth(c.Window)))),
	}
}

func noFilter(c Config, bad func(format string, args ...any)) {
	if c.AgeWeight != 0 || c.Poles != 0 {
		bad("age weight %g, poles %d: %s has no filter", c.AgeWeight, c.Poles, c.Name)
	}
	if c.Memory != 0 {
		bad("memory %d: %s forgets nothing, blt can", c.Memory, c.Name)
	}
}

func withoutFilter(p Plan) error {
	if p.Filter != (blt.Filter{}) || p.Forget != (forget.Filter{}) {
		return fmt.Errorf("mechanisms: plan: %s has either levels or a filter", p.Name)
	}
	return nil
}
