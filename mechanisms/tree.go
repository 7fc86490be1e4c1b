package mechanisms

import (
	"fmt"
	"math/big"
	"math/bits"

	"oriel/mechanisms/blt"
	"oriel/mechanisms/dp"
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

func (tree) calibrate(p *Plan, c Config, kind family) error {
	h := windowtree.Depth(c.Window)
	p.Levels = uint8(h)
	p.Scale = nodeScale(c, kind, p.Grid, treeLoad(c))
	if kind.paper {
		p.Scale = paperScale(c, kind, p.Grid, h)
	}
	p.ErrorBound = errorBound(c, kind, p.Grid, p.Scale, h)
	return nil
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

func (tree) loss(p Plan, c Config, kind family) (float64, dp.Curve) {
	loss := nodeLoss(p, c, kind, treeLoad(c))
	if kind.noise != gaussianNoise {
		return loss, nil
	}
	return loss, windowtree.Loss{
		Window: c.Window, Separation: separation(c), Delta: sensitivity(p.Grid, c), N: c.Dimension, Scale: p.Scale,
	}
}

func (tree) newSum(p Plan, c Config, sampler noise.Sampler) (Sum, error) {
	return windowtree.New(c.Window, p.Grid, c.Dimension, sampler, 0)
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
	total := new(big.Float).SetPrec(precision).SetUint64(windowtree.Events(c.Window, separation(c)))
	return load{
		squares: new(big.Float).SetPrec(precision).SetInt(windowtree.Squares(c.Window, separation(c))),
		total:   total.Mul(total, exact(float64(windowtree.Depth(c.Window)))),
	}
}

func noFilter(c Config, bad func(format string, args ...any)) {
	if c.AgeWeight != 0 || c.Poles != 0 {
		bad("age weight %g, poles %d: %s has no filter", c.AgeWeight, c.Poles, c.Name)
	}
}

func withoutFilter(p Plan) error {
	if p.Filter != (blt.Filter{}) {
		return fmt.Errorf("mechanisms: plan: %s has either levels or a filter", p.Name)
	}
	return nil
}
