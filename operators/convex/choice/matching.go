package choice

import (
	"errors"
	"fmt"
	"math"

	"oriel/operators/convex"
	"oriel/operators/convex/oracle"
	"oriel/operators/convex/shape"
)

// Matching is R times the Birkhoff polytope: k × k matrices, row by row, with x ≥ 0 and a sum of R in every row and
// column. Its vertices match each row to a column.
type Matching struct {
	shape.Shape
	Side   int // k, where n = k²
	Amount float64
}

// NewMatching requires n to be the square of at least two.
func NewMatching(n int, amount float64) (Matching, error) {
	side := int(math.Sqrt(float64(max(n, 0))))
	if side < 2 || side*side != n {
		return Matching{}, fmt.Errorf("convex: dimension %d: not the square of 2 or more", n)
	}
	diameter := float64(amount * math.Sqrt(float64(2*side))) // distance of two matchings without a common pair
	return Matching{shape.New("matching", n, diameter, float64(amount*math.Sqrt(float64(side)))), side, amount}, nil
}

// Start writes R/k everywhere.
func (m Matching) Start(dst []float64) { shape.Fill(dst, m.Amount/float64(m.Side)) }

func (m Matching) Tangent() (convex.Tangent, error) { return lines{m}, nil }

// lines is the tangent space of a Matching, in which all rows and columns sum to 0.
type lines struct{ Matching }

// Dimension returns (k − 1)².
func (m lines) Dimension() int { return (m.Side - 1) * (m.Side - 1) }

// Project subtracts the means of rows, then the means of columns, because all row and column sums are constant on the
// set.
func (m lines) Project(v []float64) {
	for line := range 2 * m.Side {
		first, step := m.line(line)
		mean := m.sum(v, line) / float64(m.Side)
		for i := range m.Side {
			v[first+i*step] -= mean
		}
	}
}

// Settle scales rows, then columns, to the sum R. Sums have only rounding errors, and scaling columns changes row sums
// by no more than these errors.
func (m Matching) Settle(x []float64) {
	for i, v := range x {
		if v < shape.Dust*m.Amount {
			x[i] = 0
		}
	}
	for line := range 2 * m.Side {
		first, step := m.line(line)
		factor := m.Amount / m.sum(x, line)
		for i := range m.Side {
			x[first+i*step] = min(float64(x[first+i*step]*factor), m.Amount)
		}
	}
}

// Check checks that every row and column sums to R.
func (m Matching) Check(x []float64) error {
	for line := range 2 * m.Side {
		if !(math.Abs(m.sum(x, line)-m.Amount) <= shape.SumTolerance*m.Amount) {
			return errors.New("convex: state: a row or column with another sum")
		}
	}
	return nil
}

// line returns the first coordinate of a line and the step between its coordinates. Line k is row k, or column k −
// side.
func (m Matching) line(k int) (first, step int) {
	if k < m.Side {
		return k * m.Side, 1
	}
	return k - m.Side, m.Side
}

// sum returns the sum of a line.
func (m Matching) sum(x []float64, line int) float64 {
	first, step := m.line(line)
	total := 0.0
	for i := range m.Side {
		total += x[first+i*step]
	}
	return total
}

func (m Matching) Linear() convex.LinearOracle { return newAssignment(m) }

// LocalOracle returns an oracle that takes mass from the most expensive matchings.
func (m Matching) LocalOracle() convex.LocalOracle { return oracle.NewZeroOne(newAssignment(m)) }

// assignment finds matchings of least cost, by shortest augmenting paths with prices of rows and columns: O(k³) (H. W.
// Kuhn 1955; N. Tomizawa, On some techniques useful for solution of transportation network problems, Networks 1, 1971).
type assignment struct {
	Matching
	rows, cols []float64 // prices of rows and columns
	matched    []int32   // row matched with each column; the extra column is the start of an augmenting path
	previous   []int32   // column before each column on the path
	least      []float64 // slack of the best path to each column
	done       []bool
	vertex     []int32
	masked     []float64 // costs with +∞ for forbidden pairs
}

func newAssignment(m Matching) *assignment {
	k := m.Side
	return &assignment{
		Matching: m, rows: make([]float64, k), cols: make([]float64, k+1), matched: make([]int32, k+1),
		previous: make([]int32, k+1), least: make([]float64, k+1), done: make([]bool, k+1), vertex: make([]int32, k),
		masked: make([]float64, k*k),
	}
}

// Minimise writes the matching of least cost. Among equal costs it prefers lower columns.
func (a *assignment) Minimise(dst, c []float64) {
	clear(dst)
	for _, i := range a.Best(c) {
		dst[i] = a.Amount
	}
}

func (a *assignment) Total() float64 { return a.Amount }

// Kappa returns √n/R = k/R. The constraints x ≥ 0 have rows of norm 1, and a vertex has slack R in each constraint that
// is not tight.
func (a *assignment) Kappa() float64 { return float64(a.Side) / a.Amount }

func (a *assignment) Best(c []float64) []int32 {
	if !a.solve(c) {
		panic("BUG: convex: costs that are not finite")
	}
	return a.vertex
}

// Worst finds the matching of largest cost among the positions where x is positive.
func (a *assignment) Worst(c, x []float64) []int32 {
	for i, v := range x {
		a.masked[i] = math.Inf(1)
		if v > 0 {
			a.masked[i] = -c[i]
		}
	}
	if !a.solve(a.masked) {
		return nil
	}
	return a.vertex
}

// solve fills vertex, or returns false if each matching has a cost of +∞.
func (a *assignment) solve(c []float64) bool {
	k := a.Side
	clear(a.rows)
	clear(a.cols)
	for j := range a.matched {
		a.matched[j] = -1
	}
	for row := range k {
		if !a.augment(c, row) {
			return false
		}
	}
	for j, row := range a.matched[:k] {
		a.vertex[row] = row*int32(k) + int32(j)
	}
	return true
}

// augment matches one more row, along the path of least slack to a free column.
func (a *assignment) augment(c []float64, row int) bool {
	k := a.Side
	for j := range a.least {
		a.least[j], a.done[j] = math.Inf(1), false
	}
	a.matched[k] = int32(row)
	at := k
	for a.matched[at] >= 0 {
		a.done[at] = true
		from, step, next := int(a.matched[at]), math.Inf(1), -1
		for j := range k {
			if a.done[j] {
				continue
			}
			if slack := c[from*k+j] - a.rows[from] - a.cols[j]; slack < a.least[j] {
				a.least[j], a.previous[j] = slack, int32(at)
			}
			if a.least[j] < step {
				step, next = a.least[j], j
			}
		}
		if next < 0 {
			return false
		}
		for j := range a.done {
			if a.done[j] {
				a.rows[a.matched[j]] += step
				a.cols[j] -= step
			} else {
				a.least[j] -= step
			}
		}
		at = next
	}
	for at != k {
		to := int(a.previous[at])
		a.matched[at] = a.matched[to]
		at = to
	}
	return true
}

func (m Matching) Inner([]float64) (float64, error) { return m.Amount / float64(m.Side-1), nil }
