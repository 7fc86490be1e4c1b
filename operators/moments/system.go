package moments

import (
	"fmt"
	"math"

	"oriel/mechanisms/lattice"
)

// Edge returns 2√d·sd, the edge of the spectrum of a d×d matrix of symmetric Gaussian noise with standard deviation sd
// off the diagonal and √2·sd on it. The largest eigenvalue exceeds Edge + t with probability at most exp(−t²/4sd²)
// (PROOF.md, Theorem 3).
func Edge(size int, sd float64) float64 { return float64(2 * float64(math.Sqrt(float64(size))*sd)) }

// MaxDoublings is the largest number of doublings of a System's shift. A shift grown by a factor of 2⁶⁰ exceeds any
// released number.
const MaxDoublings = 60

// System solves equations with a released matrix that noise may have made indefinite. It is post-processing.
type System struct {
	*Cholesky
	Shift     float64 // shift of the current factor
	Doublings int     // number of doublings that the current factor needed
}

// NewSystem returns a System for d features.
func NewSystem(size int) *System { return &System{Cholesky: NewCholesky(size)} }

// Factor factors scale·(M + shift·I) + add·I. If this matrix has no factor, the shift becomes 2·shift + 1 and Factor
// tries again; the number of tries depends only on the release. It returns false if even the last shift was too small,
// for example for a matrix that is not finite.
func (s *System) Factor(m Symmetric, scale, shift, add float64) bool {
	s.Shift = shift
	for s.Doublings = 0; s.Doublings <= MaxDoublings; s.Doublings++ {
		if s.Cholesky.Factor(m, scale, float64(scale*s.Shift)+add) {
			return true
		}
		s.Shift = float64(2*s.Shift) + 1
	}
	s.Doublings = MaxDoublings
	return false
}

// Used returns the shift, and how often it was doubled.
func (s *System) Used() (shift float64, doublings int) { return s.Shift, s.Doublings }

// Cap shortens a vector longer than most to the length most, in place. A vector that is not finite becomes zero.
func Cap(v []float64, most float64) {
	length := lattice.Norm(v)
	switch {
	case length <= most:
	case !(length <= math.MaxFloat64):
		clear(v)
	default:
		factor := most / length
		for i, x := range v {
			v[i] = float64(x * factor)
		}
	}
}

// Symmetric is a symmetric matrix given by its upper triangle, row by row.
type Symmetric struct {
	Size   int // D, the number of rows
	Values []float64
}

// At returns the entry of row i and column j, in either order.
func (m Symmetric) At(i, j int) float64 { return m.Values[m.index(i, j)] }

func (m Symmetric) index(i, j int) int {
	if j < i {
		i, j = j, i
	}
	if i < 0 || j >= m.Size {
		panic(fmt.Sprintf("BUG: moments: entry (%d, %d) of a matrix of size %d", i, j, m.Size))
	}
	return i*m.Size - i*(i-1)/2 + j - i
}

// Moments returns Σ x_i·x_j, Σ x·y and Σ y² of a released block, with labels in their own units.
type Moments struct {
	Symmetric
	Label float64 // s, the factor of labels in the block
}

// Gram returns Σ x_i·x_j.
func (m Moments) Gram(i, j int) float64 { return m.At(i, j) }

// Cross writes Σ x·y to dst.
func (m Moments) Cross(dst []float64) {
	last := m.Size - 1
	for i := range last {
		dst[i] = m.At(i, last) / m.Label
	}
}

// Square returns Σ y².
func (m Moments) Square() float64 { return m.At(m.Size-1, m.Size-1) / float64(m.Label*m.Label) }

// Moments returns the block as moments.
func (r Rows) Moments(release []float64, block int) Moments {
	return Moments{Symmetric: r.Block(release, block), Label: float64(r.Label) / MaxLabel}
}
