package bandit

import (
	"fmt"

	"oriel/operators/convex"
)

// shape is what a set is like where plays go: a function of public settings.
type shape struct {
	dimension int       // m, of the tangent space
	centre    []float64 // that centres are drawn to
	radius    float64   // of a ball about it that is in the set, within its affine hull; only where plays stay in the set
}

// newShape computes the shape of a set, with the ball in it if plays are to stay there. Where they are not, a set whose
// tangent space costs too much has directions that fill R^n.
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

// geometry returns the shape, which configure has computed. A Config that was made otherwise must have a set that has
// one.
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
