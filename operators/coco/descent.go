package coco

// descent is online gradient descent on the private gradient of each step (SPEC.md, care point 3; Hazan, Agarwal and
// Kale 2007, Theorem 1, for steps of 1/(µt)). With y_t the release of the gradient sum of step t,
//
//	x_{t+1} = Π_C( x_t − (y_t + µB·x_t)/(µBt + λ_0) )
//
// where µB·x_t is the gradient of the public regulariser, absent under OwnConvexity. Past gradients act through x_t, so
// descent needs no prefix sum, and it averages the noise of its steps itself.
type descent struct {
	*projected
	regularizer float64 // µB, or 0 under OwnConvexity
}

func newDescent(c Config, o *objective) (*descent, error) {
	p, err := newProjected(c, o)
	if err != nil {
		return nil, err
	}
	u := &descent{projected: p, regularizer: o.convexity}
	if c.OwnConvexity {
		u.regularizer = 0
	}
	return u, nil
}

func (u *descent) step(t uint64, released []float64) {
	curvature := u.objective.curvature(t)
	for i, y := range released {
		u.x[i] -= (y + float64(u.regularizer*u.x[i])) / curvature
	}
	u.projection.Project(u.x, u.x)
}
