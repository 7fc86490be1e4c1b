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

// MaxSide is the largest number of rows of a matrix, because an eigendecomposition costs about 25 times the cube of
// that number.
const MaxSide = 128

// Spectrahedron is the set of symmetric positive semidefinite matrices with trace R, stored row by row: mixes of R·vvᵀ.
type Spectrahedron struct {
	shape.Shape
	Side  int // m, where n = m²
	Trace float64
}

func NewSpectrahedron(n int, radius float64) (Spectrahedron, error) {
	side := int(math.Sqrt(float64(n)))
	diameter := float64(radius * math.Sqrt2) // distance of two vertices R·vvᵀ with orthogonal v
	s := Spectrahedron{shape.New("spectrahedron", n, diameter, radius), side, radius}
	if s.Side*s.Side != n || s.Side < 2 || s.Side > MaxSide {
		return s, fmt.Errorf("convex: dimension %d: a spectrahedron takes a square, of 2 to %d", n, MaxSide)
	}
	return s, nil
}

// Start writes R/m times the unit matrix.
func (s Spectrahedron) Start(dst []float64) {
	clear(dst)
	for i := range s.Side {
		dst[i*s.Side+i] = s.Trace / float64(s.Side)
	}
}

func (s Spectrahedron) Tangent() (convex.Tangent, error) { return traceless{s}, nil }

// traceless is the tangent space of a Spectrahedron: symmetric matrices with trace 0.
type traceless struct{ Spectrahedron }

// Dimension returns m(m+1)/2 − 1.
func (s traceless) Dimension() int { return s.Side*(s.Side+1)/2 - 1 }

// Project makes v symmetric, and subtracts the mean of its diagonal from the diagonal, because the trace is constant on
// the set.
func (s traceless) Project(v []float64) {
	s.symmetric(v)
	mean := 0.0
	for i := range s.Side {
		mean += v[i*s.Side+i] / float64(s.Side)
	}
	for i := range s.Side {
		v[i*s.Side+i] -= mean
	}
}

// symmetric replaces v by the mean of v and its transpose.
func (s Spectrahedron) symmetric(v []float64) {
	m := s.Side
	for i := range m {
		for j := range i {
			mean := (v[i*m+j] + v[j*m+i]) / 2
			v[i*m+j], v[j*m+i] = mean, mean
		}
	}
}

// decompose finds the eigenvalues and eigenvectors of the symmetric part of a matrix.
func (s Spectrahedron) decompose(eigen *elementary.Eigen, x []float64) {
	m := s.Side
	for i := range m {
		for j := i; j < m; j++ {
			eigen.Set(i, j, (x[i*m+j]+x[j*m+i])/2)
		}
	}
	eigen.Run()
}

// Settle restores symmetry and trace. Eigenvalues of a mix are non-negative up to rounding.
func (s Spectrahedron) Settle(x []float64) {
	s.symmetric(x)
	m, trace := s.Side, 0.0
	for i := range m {
		x[i*m+i] = max(0, x[i*m+i])
		trace += x[i*m+i]
	}
	if trace > 0 {
		for i := range x {
			x[i] = float64(x[i] * (s.Trace / trace))
		}
	}
}

func (s Spectrahedron) Check(x []float64) error {
	m, trace := s.Side, 0.0
	for i := range m {
		trace += x[i*m+i]
		for j := range i + 1 {
			v := x[i*m+j]
			if v != x[j*m+i] || !(math.Abs(v) <= float64(s.Trace*(1+shape.SumTolerance))) || i == j && v < 0 {
				return errors.New("convex: state: no symmetric matrix of the set's size")
			}
		}
	}
	if !(math.Abs(trace-s.Trace) <= float64(shape.SumTolerance*s.Trace)) {
		return errors.New("convex: state: a matrix of another trace")
	}
	return nil
}

func (s Spectrahedron) Linear() convex.LinearOracle {
	return &leastEigen{s, elementary.NewEigen(s.Side)}
}

// leastEigen minimises by R·vvᵀ, where v is the eigenvector of the least eigenvalue of the cost, the first among
// equals.
type leastEigen struct {
	set   Spectrahedron
	eigen *elementary.Eigen
}

func (o *leastEigen) Minimise(dst, c []float64) {
	m, best := o.set.Side, 0
	o.set.decompose(o.eigen, c)
	for k := range m {
		if o.eigen.Value(k) < o.eigen.Value(best) {
			best = k
		}
	}
	v := o.eigen.Vector(best)
	for i := range m {
		for j := range m {
			dst[i*m+j] = float64(float64(o.set.Trace*v[i]) * v[j])
		}
	}
	o.set.Settle(dst)
}

// Projection returns a projection that projects the eigenvalues to the simplex of scale R, in about 25m³ operations.
func (s Spectrahedron) Projection() convex.Projection {
	return &spectral{
		set: s, eigen: elementary.NewEigen(s.Side),
		threshold: threshold{s.Trace, oracle.NewDescending(s.Side)}, values: make([]float64, s.Side),
	}
}

// spectral projects onto the set: the nearest matrix has the eigenvectors of the symmetric part, and the projected
// eigenvalues.
type spectral struct {
	set       Spectrahedron
	eigen     *elementary.Eigen
	threshold threshold
	values    []float64
}

func (p *spectral) Project(dst, x []float64) {
	m := p.set.Side
	p.set.decompose(p.eigen, x)
	for k := range p.values {
		p.values[k] = p.eigen.Value(k)
	}
	p.threshold.Project(p.values, p.values)
	clear(dst)
	for k, value := range p.values {
		if value == 0 {
			continue
		}
		v := p.eigen.Vector(k)
		for i := range m {
			along := float64(value * v[i])
			for j := range m {
				dst[i*m+j] += float64(along * v[j])
			}
		}
	}
	p.set.Settle(dst)
}

// Inner uses that eigenvalues of a symmetric Y of trace 0 are at least −|Y|·√(1 − 1/m).
func (s Spectrahedron) Inner([]float64) (float64, error) {
	m := float64(s.Side)
	return s.Trace / math.Sqrt(float64(m*(m-1))), nil
}

func (s Spectrahedron) LocalOracle() convex.LocalOracle { return oracle.Follow(s) }
