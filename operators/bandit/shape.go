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

// newShape computes the shape of a set, and the ball in it if plays are to stay there.
func newShape(set convex.Set, stay bool) (*shape, error) {
	tangent, err := convex.NewTangent(set)
	if err != nil {
		return nil, err
	}
	s := &shape{dimension: tangent.Dimension(), centre: make([]float64, set.Dimension())}
	if s.dimension == 0 {
		return nil, fmt.Errorf("set %s: of one point, which leaves nothing to learn", set.Name())
	}
	set.Start(s.centre)
	if !stay {
		return s, nil
	}
	if s.radius, err = convex.Inner(set, s.centre); err != nil {
		return nil, fmt.Errorf("%w; false lets plays leave the set by ORIEL_SMOOTHING", err)
	}
	return s, nil
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
