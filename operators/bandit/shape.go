package bandit

import (
	"fmt"

	"oriel/operators/convex"
)

// shape holds the geometry of the set that actions need. It is a function of public settings.
type shape struct {
	dimension int       // m, the dimension of the tangent space
	centre    []float64 // point towards which centres are scaled
	radius    float64   // radius of a ball about centre in the set and its affine hull; 0 if actions may leave the set
}

// newShape computes the shape of a set, with an inner ball if actions must stay in the set. If actions may leave the
// set and the tangent space would cost too much, directions fill R^n.
func newShape(set convex.Set, stay bool) (*shape, error) {
	s := &shape{dimension: set.Dimension(), centre: make([]float64, set.Dimension())}
	set.Start(s.centre)
	tangent, err := convex.NewTangent(set)
	if known := err == nil && tangent.Dimension() > 0; !stay && !known {
		return s, nil
	}
	if err != nil {
		return nil, err
	}
	if s.dimension = tangent.Dimension(); s.dimension == 0 {
		return nil, fmt.Errorf("set %s: of one point, which leaves nothing to learn", set.Name())
	}
	if stay {
		s.radius, err = convex.Inner(set, s.centre)
	}
	return s, err
}

// geometry returns the shape that configure has computed, or computes it. It panics if the set has no shape.
func (c Config) geometry() *shape {
	if c.shape != nil {
		return c.shape
	}
	s, err := newShape(c.Set, c.Shrink)
	if err != nil {
		panic("BUG: bandit: " + err.Error())
	}
	return s
}
