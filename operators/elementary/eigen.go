package elementary

import "math"

// Eigen computes all eigenvalues and eigenvectors of a symmetric matrix by cyclic Jacobi rotations (Golub and Van Loan,
// "Matrix Computations", 4th edition, section 8.5), which make the matrix diagonal. Cost: about 25n³. It does not
// allocate, and is not safe for concurrent use.
//
//	e := elementary.NewEigen(n)
//	e.Set(i, j, x) for i ≤ j, e.Run(), then e.Value(k), e.Vector(k)
type Eigen struct {
	size    int
	matrix  []float64 // the matrix, row by row; Run makes its off-diagonal entries zero
	vectors []float64 // one eigenvector in each row
}

// NewEigen returns an Eigen for matrices of n rows.
func NewEigen(n int) *Eigen {
	return &Eigen{size: n, matrix: make([]float64, n*n), vectors: make([]float64, n*n)}
}

// Set writes the number of row i and column j, and of row j and column i. All numbers must be set BEFORE Run.
func (e *Eigen) Set(i, j int, x float64) {
	e.matrix[i*e.size+j], e.matrix[j*e.size+i] = x, x
}

// Value returns the k-th eigenvalue, in no particular order.
func (e *Eigen) Value(k int) float64 { return e.matrix[k*e.size+k] }

// Vector returns the eigenvector of the k-th eigenvalue, of norm 1. It belongs to the Eigen and is valid until Run.
func (e *Eigen) Vector(k int) []float64 { return e.vectors[k*e.size:][:e.size] }

const (
	sweeps   = 24      // more sweeps than convergence, which is quadratic in the end, ever needs
	diagonal = 0x1p-50 // off-diagonal entries below this share of the largest diagonal entry are rounding errors
)

// Run makes the matrix diagonal. Its entries must be finite.
func (e *Eigen) Run() {
	clear(e.vectors)
	for i := range e.size {
		e.vectors[i*e.size+i] = 1
	}
	for sweep := 0; sweep < sweeps && e.sweep(); sweep++ {
	}
}

// sweep rotates each off-diagonal entry to zero, in order, and reports whether any entry was above the rounding errors.
func (e *Eigen) sweep() (rotated bool) {
	largest := 0.0
	for k := range e.size {
		largest = max(largest, math.Abs(e.matrix[k*e.size+k]))
	}
	for p := range e.size {
		for q := p + 1; q < e.size; q++ {
			x := e.matrix[p*e.size+q]
			if math.Abs(x) <= float64(diagonal*largest) {
				continue
			}
			rotated = true
			e.rotate(p, q, x)
		}
	}
	return rotated
}

// rotate rotates rows and columns p and q by the smaller of the two angles that make the entry x at (p, q) zero.
func (e *Eigen) rotate(p, q int, x float64) {
	n := e.size
	tau := (e.matrix[q*n+q] - e.matrix[p*n+p]) / float64(2*x)
	t := 1 / (math.Abs(tau) + math.Sqrt(1+float64(tau*tau)))
	if tau < 0 {
		t = -t
	}
	cosine := 1 / math.Sqrt(1+float64(t*t))
	sine := float64(t * cosine)
	e.matrix[p*n+p] -= float64(t * x)
	e.matrix[q*n+q] += float64(t * x)
	turn := func(a, b []float64) {
		for k, y := range a {
			z := b[k]
			a[k] = float64(cosine*y) - float64(sine*z)
			b[k] = float64(sine*y) + float64(cosine*z)
		}
	}
	above, below := e.matrix[p*n:][:n], e.matrix[q*n:][:n]
	first, second := above[p], below[q]
	turn(above, below)
	above[p], above[q], below[p], below[q] = first, 0, 0, second
	for k := range n {
		e.matrix[k*n+p], e.matrix[k*n+q] = above[k], below[k]
	}
	turn(e.vectors[p*n:][:n], e.vectors[q*n:][:n])
}
