package ball

import (
	"errors"
	"fmt"
	"math"

	"oriel/operators/convex"
	"oriel/operators/convex/oracle"
	"oriel/operators/convex/shape"
	"oriel/operators/elementary"
)

// TraceNorm is the set of matrices, stored row by row, whose singular values sum to at most R: mixes of ±R·uvᵀ.
type TraceNorm struct {
	shape.Shape
	Rows, Columns int
	Radius        float64
}

func NewTraceNorm(n, rows int, radius float64) (TraceNorm, error) {
	s := TraceNorm{Shape: shape.New("trace-norm", n, float64(2*radius), radius), Rows: rows, Radius: radius}
	if rows < 1 || rows > n || n%rows != 0 {
		return s, fmt.Errorf("convex: rows %d: not a divisor of the dimension %d", rows, n)
	}
	s.Columns = n / rows
	if min(s.Rows, s.Columns) > MaxSide {
		return s, fmt.Errorf("convex: %d rows and %d columns: the fewer of both are above %d", s.Rows, s.Columns, MaxSide)
	}
	return s, nil
}

// Settle does nothing, because a mix of points is in the set up to rounding.
func (TraceNorm) Settle([]float64) {}

func (s TraceNorm) Check(x []float64) error {
	square := 0.0
	for _, v := range x {
		if !(math.Abs(v) <= float64(s.Radius*(1+shape.SumTolerance))) {
			return shape.ErrCoordinate
		}
		square += float64((v / s.Radius) * (v / s.Radius))
	}
	if square > 1+float64(3*shape.SumTolerance) { // the norm of the singular values is at most their sum, R
		return errors.New("convex: state: a matrix longer than the set")
	}
	return nil
}

func (s TraceNorm) Linear() convex.LinearOracle {
	return &largestSingular{
		set: s, eigen: elementary.NewEigen(min(s.Rows, s.Columns)),
		left: make([]float64, s.Rows), right: make([]float64, s.Columns),
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
	rows, columns := o.set.Rows, o.set.Columns
	largest := 0.0
	for _, v := range c {
		largest = max(largest, math.Abs(v))
	}
	if largest == 0 {
		clear(dst)
		dst[0] = -o.set.Radius
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
	shape.Unit(short)
	shape.Unit(long)
	for i, u := range o.left {
		for j, v := range o.right {
			dst[i*columns+j] = -float64(float64(o.set.Radius*u) * v)
		}
	}
}

// Inner uses that k singular values sum to at most √k times their norm.
func (s TraceNorm) Inner([]float64) (float64, error) {
	return s.Radius / math.Sqrt(float64(min(s.Rows, s.Columns))), nil
}

func (s TraceNorm) LocalOracle() convex.LocalOracle { return oracle.Follow(s) }
