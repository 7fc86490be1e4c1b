package convex

import "oriel/mechanisms/lattice"

// Ball is the ℓ2 ball of radius R.
type Ball struct {
	shape
	radius float64
}

func newBall(n int, radius float64) Ball {
	return Ball{shape{"l2-ball", n, float64(2 * radius), radius}, radius}
}

// Projection returns b itself, because scaling a point to norm R needs no scratch space.
func (b Ball) Projection() Projection { return b }

// Project writes the nearest point of the ball.
func (b Ball) Project(dst, x []float64) {
	norm := lattice.Norm(x)
	if norm <= b.radius {
		copy(dst, x)
		return
	}
	factor := b.radius / norm
	for i, v := range x {
		dst[i] = float64(v * factor)
	}
}

// Minimise writes −R·c/|c|, and 0 for c = 0.
func (b Ball) Minimise(dst, c []float64) {
	norm := lattice.Norm(c)
	if norm == 0 {
		clear(dst)
		return
	}
	factor := -b.radius / norm
	for i, v := range c {
		dst[i] = float64(v * factor)
	}
}
