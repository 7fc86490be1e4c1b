package convex

import (
	"errors"
	"fmt"
	"math"

	"oriel/operators/elementary"
)

// MaxSide bounds the rows of a matrix: an eigendecomposition costs some 25 times its cube.
const MaxSide = 128

// Spectrahedron is the symmetric matrices without a negative eigenvalue whose trace is R, row by row: mixes of R·vvᵀ.
type Spectrahedron struct {
	side  int // m, n = m²
	trace float64
}

func newSpectrahedron(n int, radius float64) (Spectrahedron, error) {
	s := Spectrahedron{int(math.Sqrt(float64(n))), radius}
	if s.side*s.side != n || s.side < 2 || s.side > MaxSide {
		return s, fmt.Errorf("convex: dimension %d: a spectrahedron takes a square, of 2 to %d", n, MaxSide)
	}
	return s, nil
}

// Name is spectrahedron.
func (Spectrahedron) Name() string { return "spectrahedron" }

// Dimension is m².
func (s Spectrahedron) Dimension() int { return s.side * s.side }

// Diameter is R√2, between projectors on directions that are at right angles.
func (s Spectrahedron) Diameter() float64 { return float64(s.trace * math.Sqrt2) }

// MaxNorm is R, at a vertex.
func (s Spectrahedron) MaxNorm() float64 { return s.trace }

// Start is R/m times the unit matrix.
func (s Spectrahedron) Start(dst []float64) {
	clear(dst)
	for i := range s.side {
		dst[i*s.side+i] = s.trace / float64(s.side)
	}
}

func (s Spectrahedron) tangent() (Tangent, error) { return traceless{s}, nil }

// traceless is the tangent space of a Spectrahedron: symmetric matrices without a trace.
type traceless struct{ Spectrahedron }

// Dimension is m(m+1)/2 − 1.
func (s traceless) Dimension() int { return s.side*(s.side+1)/2 - 1 }

// Project makes v symmetric, and subtracts the mean of its diagonal there: the trace is the same all over the set.
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

// symmetric replaces v by the mean of it and its transpose.
func (s Spectrahedron) symmetric(v []float64) {
	m := s.side
	for i := range m {
		for j := range i {
			mean := (v[i*m+j] + v[j*m+i]) / 2
			v[i*m+j], v[j*m+i] = mean, mean
		}
	}
}

// settle brings symmetry and trace back. Eigenvalues are those of mixes, 0 or more but for rounding.
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

func (s Spectrahedron) check(at func(int) float64) error {
	m, trace := s.side, 0.0
	for i := range m {
		trace += at(i*m + i)
		for j := range i + 1 {
			v := at(i*m + j)
			if v != at(j*m+i) || !(math.Abs(v) <= float64(s.trace*(1+sumTolerance))) || i == j && v < 0 {
				return errors.New("convex: state: no symmetric matrix of the set's size")
			}
		}
	}
	if !(math.Abs(trace-s.trace) <= float64(sumTolerance*s.trace)) {
		return errors.New("convex: state: a matrix of another trace")
	}
	return nil
}

// LocalOracle is no local one: there is none, since the set is no polytope (operators/coco/SPEC.md §8).
func (s Spectrahedron) LocalOracle() LocalOracle { return newFollowing(s) }

// Linear is a linear oracle with memory of its own.
func (s Spectrahedron) Linear() LinearOracle { return &leastEigen{s, elementary.NewEigen(s.side)} }

// leastEigen is R·vvᵀ for the eigenvector of the least eigenvalue of the cost, of equal ones the first.
type leastEigen struct {
	set   Spectrahedron
	eigen *elementary.Eigen
}

func (o *leastEigen) Minimise(dst, c []float64) {
	m, best := o.set.side, 0
	for i := range m {
		for j := i; j < m; j++ {
			o.eigen.Set(i, j, (c[i*m+j]+c[j*m+i])/2)
		}
	}
	o.eigen.Run()
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

// Projection brings eigenvalues to the simplex of the trace, in some 25m³.
func (s Spectrahedron) Projection() Projection {
	return &spectral{
		set: s, eigen: elementary.NewEigen(s.side),
		threshold: Simplex{s.side, s.trace}.Projection(), values: make([]float64, s.side),
	}
}

// spectral projects: the nearest matrix has the eigenvectors of the symmetric part, and the nearest eigenvalues.
type spectral struct {
	set       Spectrahedron
	eigen     *elementary.Eigen
	threshold Projection
	values    []float64
}

func (p *spectral) Project(dst, x []float64) {
	m := p.set.side
	for i := range m {
		for j := i; j < m; j++ {
			p.eigen.Set(i, j, (x[i*m+j]+x[j*m+i])/2)
		}
	}
	p.eigen.Run()
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
