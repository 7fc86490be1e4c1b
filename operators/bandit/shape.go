package bandit

import (
	"fmt"

	"oriel/operators/convex"
)

// shape holds the geometry of the set that plays need. It is a function of public settings.
type shape struct {
	dimension int       // m, of the tangent space
	centre    []float64 // point that centres are drawn towards
	radius    float64   // of a ball about the centre in the set, within its affine hull; only if plays stay in the set
}

// newShape computes the shape of a set, with an inner ball if plays must stay in the set. If they need not, and the
// tangent space costs too much, directions fill R^n.
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

// geometry returns the shape that configure computed. A Config built in another way must have a set with a shape.
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
