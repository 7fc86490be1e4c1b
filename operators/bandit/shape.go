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

// newShape computes the shape of a set, without a ball in it.
func newShape(set convex.Set) (*shape, error) {
	tangent, err := convex.NewTangent(set)
	if err != nil {
		return nil, err
	}
	s := &shape{dimension: tangent.Dimension(), centre: make([]float64, set.Dimension())}
	if s.dimension == 0 {
		return nil, fmt.Errorf("set %s: of one point, which leaves nothing to learn", set.Name())
	}
	set.Start(s.centre)
	return s, nil
}

// stay computes the ball in the set, about which plays stay there.
func (s *shape) stay(set convex.Set) (err error) {
	s.radius, err = convex.Inner(set, s.centre)
	return err
}

// geometry returns the shape, which configure has computed. A Config that was made otherwise must have a set that has
// one.
func (c Config) geometry() *shape {
	if c.shape != nil {
		return c.shape
	}
	s, err := newShape(c.Set)
	if err == nil && c.Shrink {
		err = s.stay(c.Set)
	}
	if err != nil {
		panic("BUG: bandit: " + err.Error())
	}
	return s
}
