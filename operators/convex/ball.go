package convex

import "oriel/mechanisms/lattice"

// Ball is the ℓ2 ball of radius R.
type Ball struct {
	n      int
	radius float64
}

// Name returns l2-ball.
func (Ball) Name() string { return "l2-ball" }

// Dimension returns n.
func (b Ball) Dimension() int { return b.n }

// Diameter returns 2R.
func (b Ball) Diameter() float64 { return float64(2 * b.radius) }

// MaxNorm returns R.
func (b Ball) MaxNorm() float64 { return b.radius }

// Start writes the centre.
func (Ball) Start(dst []float64) { clear(dst) }

// Projection returns b itself: it scales a point outside to norm R, and needs no scratch space.
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
