package convex

import (
	"errors"
	"fmt"
	"math"

	"oriel/operators/elementary"
)

// MaxSide is the largest number of rows of a matrix, because an eigendecomposition costs about 25 times the cube of
// that number.
const MaxSide = 128

// Spectrahedron is the set of symmetric positive semidefinite matrices with trace R, stored row by row: mixes of R·vvᵀ.
type Spectrahedron struct {
	shape
	side  int // m, where n = m²
	trace float64
}

func newSpectrahedron(n int, radius float64) (Spectrahedron, error) {
	side := int(math.Sqrt(float64(n)))
	diameter := float64(radius * math.Sqrt2) // distance of two vertices R·vvᵀ with orthogonal v
	s := Spectrahedron{shape{"spectrahedron", n, diameter, radius}, side, radius}
	if s.side*s.side != n || s.side < 2 || s.side > MaxSide {
		return s, fmt.Errorf("convex: dimension %d: a spectrahedron takes a square, of 2 to %d", n, MaxSide)
	}
	return s, nil
}

// Start writes R/m times the unit matrix.
func (s Spectrahedron) Start(dst []float64) {
	clear(dst)
	for i := range s.side {
		dst[i*s.side+i] = s.trace / float64(s.side)
	}
}

func (s Spectrahedron) tangent() (Tangent, error) { return traceless{s}, nil }

// traceless is the tangent space of a Spectrahedron: symmetric matrices with trace 0.
type traceless struct{ Spectrahedron }

// Dimension returns m(m+1)/2 − 1.
func (s traceless) Dimension() int { return s.side*(s.side+1)/2 - 1 }

// Project makes v symmetric, and subtracts the mean of its diagonal from the diagonal, because the trace is constant on
// the set.
func (s traceless) Project(v []float64) {
	s.symmetric(v)
	mean := 0.0
	for i := range s.side {
		mean += v[i*s.side+i] / float64(s.side)
	}
	for i := range s.side {
		v[i*s.side+i] -= mean
	}
}

// symmetric replaces v by the mean of v and its transpose.
func (s Spectrahedron) symmetric(v []float64) {
	m := s.side
	for i := range m {
		for j := range i {
			mean := (v[i*m+j] + v[j*m+i]) / 2
			v[i*m+j], v[j*m+i] = mean, mean
		}
	}
}

// decompose finds the eigenvalues and eigenvectors of the symmetric part of a matrix.
func (s Spectrahedron) decompose(eigen *elementary.Eigen, x []float64) {
	m := s.side
	for i := range m {
		for j := i; j < m; j++ {
			eigen.Set(i, j, (x[i*m+j]+x[j*m+i])/2)
		}
	}
	eigen.Run()
}

// settle restores symmetry and trace. Eigenvalues of a mix are non-negative up to rounding.
func (s Spectrahedron) settle(x []float64) {
	s.symmetric(x)
	m, trace := s.side, 0.0
	for i := range m {
		x[i*m+i] = max(0, x[i*m+i])
		trace += x[i*m+i]
	}
	if trace > 0 {
		for i := range x {
			x[i] = float64(x[i] * (s.trace / trace))
		}
	}
}

func (s Spectrahedron) check(x []float64) error {
	m, trace := s.side, 0.0
	for i := range m {
		trace += x[i*m+i]
		for j := range i + 1 {
			v := x[i*m+j]
			if v != x[j*m+i] || !(math.Abs(v) <= float64(s.trace*(1+sumTolerance))) || i == j && v < 0 {
				return errors.New("convex: state: no symmetric matrix of the set's size")
			}
		}
	}
	if !(math.Abs(trace-s.trace) <= float64(sumTolerance*s.trace)) {
		return errors.New("convex: state: a matrix of another trace")
	}
	return nil
}

func (s Spectrahedron) Linear() LinearOracle { return &leastEigen{s, elementary.NewEigen(s.side)} }

// leastEigen minimises by R·vvᵀ, where v is the eigenvector of the least eigenvalue of the cost, the first among
// equals.
type leastEigen struct {
	set   Spectrahedron
	eigen *elementary.Eigen
}

func (o *leastEigen) Minimise(dst, c []float64) {
	m, best := o.set.side, 0
	o.set.decompose(o.eigen, c)
	for k := range m {
		if o.eigen.Value(k) < o.eigen.Value(best) {
			best = k
		}
	}
	v := o.eigen.Vector(best)
	for i := range m {
		for j := range m {
			dst[i*m+j] = float64(float64(o.set.trace*v[i]) * v[j])
		}
	}
	o.set.settle(dst)
}

// Projection returns a projection that projects the eigenvalues to the simplex of scale R, in about 25m³ operations.
func (s Spectrahedron) Projection() Projection {
	return &spectral{
		set: s, eigen: elementary.NewEigen(s.side),
		threshold: threshold{s.trace, newDescending(s.side)}, values: make([]float64, s.side),
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
	m := p.set.side
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
	p.set.settle(dst)
}
