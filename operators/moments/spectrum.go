package moments

import (
	"math"

	"oriel/operators/elementary"
)

// Spectrum solves equations with a released matrix whose eigenvalues are raised to a floor. Eigenvalues so small that
// noise could have caused them become as large as the noise. Larger ones are unchanged. It is post-processing, with the
// same bits on every CPU, at about fifty times the cost of a System's factor.
type Spectrum struct {
	size    int
	floor   float64
	eigen   *elementary.Eigen
	weights []float64 // factor of each eigenvector's component in solutions
	work    []float64
}

// NewSpectrum returns a Spectrum for d features.
func NewSpectrum(size int) *Spectrum {
	return &Spectrum{
		size: size, eigen: elementary.NewEigen(size), weights: make([]float64, size), work: make([]float64, size),
	}
}

// Factor decomposes scale·raised(M) + add·I, so that Solve and Rows can be called. M is the first d rows and columns of
// m, and raised sets its eigenvalues below floor to floor. It returns false if M is not finite, or if an eigenvalue of
// the sum is not positive. Its bits are equal on every CPU, because it uses package elementary.
func (s *Spectrum) Factor(m Symmetric, scale, floor, add float64) bool {
	s.floor = floor
	for i := range s.size {
		for j := i; j < s.size; j++ {
			x := m.At(i, j)
			if !(math.Abs(x) <= math.MaxFloat64) {
				return false
			}
			s.eigen.Set(i, j, x)
		}
	}
	s.eigen.Run()
	for k := range s.weights {
		total := float64(scale*max(s.eigen.Value(k), floor)) + add
		if !(total > 0 && total <= math.MaxFloat64) {
			return false
		}
		s.weights[k] = 1 / total
	}
	return true
}

// Solve writes the solution for the right side b to dst, which may be b.
func (s *Spectrum) Solve(dst, b []float64) {
	for k, weight := range s.weights {
		along := 0.0
		for i, x := range s.eigen.Vector(k) {
			along += float64(x * b[i])
		}
		s.work[k] = float64(along * weight)
	}
	clear(dst)
	for k, along := range s.work {
		for i, x := range s.eigen.Vector(k) {
			dst[i] += float64(along * x)
		}
	}
}

// Rows writes the norms of the inverse's rows to dst.
func (s *Spectrum) Rows(dst []float64) {
	clear(dst)
	for k, weight := range s.weights {
		for i, x := range s.eigen.Vector(k) {
			y := float64(x * weight)
			dst[i] += float64(y * y)
		}
	}
	for i, square := range dst {
		dst[i] = math.Sqrt(square)
	}
}

// Used returns the floor, and 0 because a floor is never doubled.
func (s *Spectrum) Used() (floor float64, doublings int) { return s.floor, 0 }
