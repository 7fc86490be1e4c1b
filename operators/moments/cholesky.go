package moments

import (
	"math"

	"oriel/mechanisms/lattice"
	"oriel/operators/elementary"
)

// Cholesky is the factor L of a symmetric positive definite matrix, LLᵀ. Its bits are equal on every CPU: sums have the
// order of lattice.Dot, each product is rounded, and roots and quotients follow IEEE. It keeps nothing of earlier
// matrices, and is not safe for concurrent use.
type Cholesky struct {
	size  int
	lower []float64 // rows of L; row i begins at i(i+1)/2
	work  []float64
}

// NewCholesky returns a Cholesky for matrices of the given size.
func NewCholesky(size int) *Cholesky {
	return &Cholesky{size: size, lower: make([]float64, size*(size+1)/2), work: make([]float64, size)}
}

// least is the smallest accepted pivot, relative to the diagonal entry. With a smaller pivot, solutions would consist
// of rounding errors.
const least = 0x1p-40

func (c *Cholesky) row(i int) []float64 { return c.lower[i*(i+1)/2:][: i+1 : i+1] }

// Factor factors scale·M + add·I, where M are the first rows and columns of m. It returns false, and leaves no factor,
// if this matrix is not finite, or not positive definite by some margin. It uses the row-wise algorithm (Golub and Van
// Loan, "Matrix Computations", 4th edition, section 4.2).
func (c *Cholesky) Factor(m Symmetric, scale, add float64) bool {
	for i := range c.size {
		row := c.row(i)
		for j := range i {
			above := c.row(j)
			row[j] = (float64(scale*m.At(j, i)) - lattice.Dot(row[:j], above[:j])) / above[j]
		}
		diagonal := float64(scale*m.At(i, i)) + add
		pivot := diagonal - lattice.Dot(row[:i], row[:i])
		if !(diagonal > 0 && pivot > float64(least*diagonal) && pivot <= math.MaxFloat64) {
			return false
		}
		row[i] = math.Sqrt(pivot)
	}
	return true
}

// Solve writes the solution of LLᵀx = b to dst, which may be b.
func (c *Cholesky) Solve(dst, b []float64) {
	c.forward(dst, b)
	c.backward(dst)
}

// forward solves Lz = b.
func (c *Cholesky) forward(dst, b []float64) {
	for i := range c.size {
		row := c.row(i)
		dst[i] = (b[i] - lattice.Dot(row[:i], dst[:i])) / row[i]
	}
}

// backward solves Lᵀx = z in place.
func (c *Cholesky) backward(dst []float64) {
	for i := c.size - 1; i >= 0; i-- {
		row := c.row(i)
		dst[i] /= row[i]
		for j := range i {
			dst[j] -= float64(row[j] * dst[i])
		}
	}
}

// Length returns √(bᵀ(LLᵀ)⁻¹b): the length of b in the norm of the inverse.
func (c *Cholesky) Length(b []float64) float64 {
	c.forward(c.work, b)
	return lattice.Norm(c.work)
}

// LogDeterminant returns ln det LLᵀ.
func (c *Cholesky) LogDeterminant() float64 {
	sum := 0.0
	for i := range c.size {
		sum += float64(2 * elementary.Log(c.row(i)[i]))
	}
	return sum
}

// Rows writes the norms of the inverse's rows to dst. These are the standard deviations of a solution whose right side
// has independent noise of deviation 1.
func (c *Cholesky) Rows(dst []float64) {
	for i := range c.size {
		clear(c.work)
		c.work[i] = 1
		c.Solve(c.work, c.work)
		dst[i] = lattice.Norm(c.work)
	}
}
