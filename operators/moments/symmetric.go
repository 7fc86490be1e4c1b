package moments

import "fmt"

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
