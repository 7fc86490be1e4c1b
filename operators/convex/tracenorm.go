package convex

import (
	"errors"
	"fmt"
	"math"

	"oriel/operators/elementary"
)

// TraceNorm is the set of matrices, stored row by row, whose singular values sum to at most R: mixes of ±R·uvᵀ.
type TraceNorm struct {
	shape
	rows, columns int
	radius        float64
}

func newTraceNorm(n, rows int, radius float64) (TraceNorm, error) {
	s := TraceNorm{shape: shape{"trace-norm", n, float64(2 * radius), radius}, rows: rows, radius: radius}
	if rows < 1 || rows > n || n%rows != 0 {
		return s, fmt.Errorf("convex: rows %d: not a divisor of the dimension %d", rows, n)
	}
	s.columns = n / rows
	if min(s.rows, s.columns) > MaxSide {
		return s, fmt.Errorf("convex: %d rows and %d columns: the fewer of both are above %d", s.rows, s.columns, MaxSide)
	}
	return s, nil
}

// settle does nothing, because a mix of points is in the set up to rounding.
func (TraceNorm) settle([]float64) {}

func (s TraceNorm) check(x []float64) error {
	square := 0.0
	for _, v := range x {
		if !(math.Abs(v) <= float64(s.radius*(1+sumTolerance))) {
			return errCoordinate
		}
		square += float64((v / s.radius) * (v / s.radius))
	}
	if square > 1+float64(3*sumTolerance) { // the norm of the singular values is at most their sum, R
		return errors.New("convex: state: a matrix longer than the set")
	}
	return nil
}

func (s TraceNorm) Linear() LinearOracle {
	return &largestSingular{
		set: s, eigen: elementary.NewEigen(min(s.rows, s.columns)),
		left: make([]float64, s.rows), right: make([]float64, s.columns),
	}
}

// largestSingular minimises by −R·uvᵀ for the largest singular value of the cost, the first among equals. It uses the
// eigenvectors of the Gram matrix of the rows or of the columns, whichever has the smaller size. If the cost is zero, u
// and v are the first unit vectors.
type largestSingular struct {
	set         TraceNorm
	eigen       *elementary.Eigen
	left, right []float64
}

func (o *largestSingular) Minimise(dst, c []float64) {
	rows, columns := o.set.rows, o.set.columns
	largest := 0.0
	for _, v := range c {
		largest = max(largest, math.Abs(v))
	}
	if largest == 0 {
		clear(dst)
		dst[0] = -o.set.radius
		return
	}
	// Scaled by the largest cost, so that squares cannot overflow.
	at := func(i, j int) float64 { return c[i*columns+j] / largest }
	short, long, fewer := o.left, o.right, rows
	if columns < rows {
		short, long, fewer = o.right, o.left, columns
		by := at
		at = func(i, j int) float64 { return by(j, i) }
	}
	for a := range fewer {
		for b := a; b < fewer; b++ {
			sum := 0.0
			for k := range long {
				sum += float64(at(a, k) * at(b, k))
			}
			o.eigen.Set(a, b, sum)
		}
	}
	o.eigen.Run()
	best := 0
	for k := range fewer {
		if o.eigen.Value(k) > o.eigen.Value(best) {
			best = k
		}
	}
	copy(short, o.eigen.Vector(best))
	for k := range long {
		sum := 0.0
		for a, v := range short {
			sum += float64(v * at(a, k))
		}
		long[k] = sum
	}
	unit(short)
	unit(long)
	for i, u := range o.left {
		for j, v := range o.right {
			dst[i*columns+j] = -float64(float64(o.set.radius*u) * v)
		}
	}
}

// unit scales v to norm 1. If rounding has made v zero, it becomes the first unit vector.
func unit(v []float64) {
	norm := length(v, nil)
	if !(norm > 0) {
		v[0], norm = 1, 1
	}
	for i, x := range v {
		v[i] = x / norm
	}
}
