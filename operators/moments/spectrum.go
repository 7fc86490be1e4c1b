package moments

import "math"

// Spectrum solves equations with a released matrix whose eigenvalues are raised to a floor: those that noise alone may
// have made stay as large as noise is, and larger ones keep all that they say. It is post-processing, with the same
// bits on every CPU, at some forty times the cost of a System's factor.
type Spectrum struct {
	size    int
	floor   float64
	matrix  []float64 // row by row; what is left of it off the diagonal
	vectors []float64 // row by row: an eigenvector each
	weights []float64 // of each eigenvector in solutions
	work    []float64
}

// NewSpectrum returns room for d features.
func NewSpectrum(size int) *Spectrum {
	return &Spectrum{
		size: size, matrix: make([]float64, size*size), vectors: make([]float64, size*size),
		weights: make([]float64, size), work: make([]float64, size),
	}
}

const (
	sweeps   = 24      // far more than convergence takes, which is quadratic in the end
	diagonal = 0x1p-50 // of the largest number on the diagonal: what is below off it is rounding
)

// Factor takes scale·raised(M) + add·I, M the first rows and columns of m with no eigenvalue below floor. It reports
// false where M is not finite, or where a sum is not above 0: by cyclic Jacobi rotations (Golub and Van Loan, "Matrix
// Computations", 4th edition, section 8.5), each product rounded, in a fixed order.
func (s *Spectrum) Factor(m Symmetric, scale, floor, add float64) bool {
	s.floor = floor
	clear(s.vectors)
	for i := range s.size {
		s.vectors[i*s.size+i] = 1
		for j := i; j < s.size; j++ {
			x := m.At(i, j)
			if !(math.Abs(x) <= math.MaxFloat64) {
				return false
			}
			s.matrix[i*s.size+j], s.matrix[j*s.size+i] = x, x
		}
	}
	for sweep := 0; sweep < sweeps && s.sweep(); sweep++ {
	}
	for k := range s.weights {
		whole := float64(scale*max(s.matrix[k*s.size+k], floor)) + add
		if !(whole > 0 && whole <= math.MaxFloat64) {
			return false
		}
		s.weights[k] = 1 / whole
	}
	return true
}

// sweep rotates each number off the diagonal to zero, in order, and reports whether one was large enough.
func (s *Spectrum) sweep() (rotated bool) {
	largest := 0.0
	for k := range s.size {
		largest = max(largest, math.Abs(s.matrix[k*s.size+k]))
	}
	for p := range s.size {
		for q := p + 1; q < s.size; q++ {
			x := s.matrix[p*s.size+q]
			if math.Abs(x) <= float64(diagonal*largest) {
				continue
			}
			rotated = true
			s.rotate(p, q, x)
		}
	}
	return rotated
}

// rotate turns rows and columns p and q by the smaller angle that makes the number x between them zero.
func (s *Spectrum) rotate(p, q int, x float64) {
	n := s.size
	tau := (s.matrix[q*n+q] - s.matrix[p*n+p]) / float64(2*x)
	t := 1 / (math.Abs(tau) + math.Sqrt(1+float64(tau*tau)))
	if tau < 0 {
		t = -t
	}
	cosine := 1 / math.Sqrt(1+float64(t*t))
	sine := float64(t * cosine)
	s.matrix[p*n+p] -= float64(t * x)
	s.matrix[q*n+q] += float64(t * x)
	turn := func(a, b []float64) {
		for k, y := range a {
			z := b[k]
			a[k] = float64(cosine*y) - float64(sine*z)
			b[k] = float64(sine*y) + float64(cosine*z)
		}
	}
	above, below := s.matrix[p*n:][:n], s.matrix[q*n:][:n]
	first, second := above[p], below[q]
	turn(above, below)
	above[p], above[q], below[p], below[q] = first, 0, 0, second
	for k := range n {
		s.matrix[k*n+p], s.matrix[k*n+q] = above[k], below[k]
	}
	turn(s.vectors[p*n:][:n], s.vectors[q*n:][:n])
}

// Solve writes the solution for the right side b to dst, which may be b.
func (s *Spectrum) Solve(dst, b []float64) {
	for k, weight := range s.weights {
		along := 0.0
		for i, x := range s.vectors[k*s.size:][:s.size] {
			along += float64(x * b[i])
		}
		s.work[k] = float64(along * weight)
	}
	clear(dst)
	for k, along := range s.work {
		for i, x := range s.vectors[k*s.size:][:s.size] {
			dst[i] += float64(along * x)
		}
	}
}

// Rows writes the lengths of the inverse's rows to dst.
func (s *Spectrum) Rows(dst []float64) {
	clear(dst)
	for k, weight := range s.weights {
		for i, x := range s.vectors[k*s.size:][:s.size] {
			y := float64(x * weight)
			dst[i] += float64(y * y)
		}
	}
	for i, square := range dst {
		dst[i] = math.Sqrt(square)
	}
}

// Used returns the floor, which is never doubled.
func (s *Spectrum) Used() (floor float64, doublings int) { return s.floor, 0 }
