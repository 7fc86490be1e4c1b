package bandit

import (
	"math"

	"oriel/operators/convex"
)

// mirror computes the map of NoisyOCO, ∇ω*(−ηs) with ω = ½|x − x₀|²: the minimiser of ½|x − x₀|² + η⟨s, x⟩ over a set.
// It uses Frank-Wolfe, starting from the last minimiser, or an exact projection (SPEC.md §1).
type mirror struct {
	start    []float64 // x₀, the minimiser for s = 0
	centre   []float64 // the last minimiser
	stopGap  float64   // twice the gap at which Frank-Wolfe stops, length²
	maxSteps int       // maximal number of linear minimisations of a move

	oracle     convex.LinearOracle
	projection convex.Projection // nil: the map uses Frank-Wolfe
	slope      []float64         // scratch
	vertex     []float64
}

// maxCalls limits the linear minimisations of a move, in case a precision asks for more.
const maxCalls = 1 << 16

// newMirror returns a map that starts at the set's start, which is x₀. Its centres are within precision of the exact
// ones. A precision of 0 stands for D/√B, where B is the number of records in a step. It needs at most B linear
// minimisations, as many as the paper has rounds in a batch (SPEC.md §1).
func newMirror(set convex.Set, records int, precision float64) mirror {
	n := set.Dimension()
	m := mirror{
		start: make([]float64, n), centre: make([]float64, n), slope: make([]float64, n), vertex: make([]float64, n),
		stopGap: float64(set.Diameter()*set.Diameter()) / float64(records), maxSteps: records,
		oracle: convex.NewLinearOracle(set),
	}
	if precision > 0 {
		m.stopGap = float64(precision * precision)
		m.maxSteps = int(min(maxCalls, math.Ceil(4*float64(set.Diameter()*set.Diameter())/m.stopGap)))
	}
	set.Start(m.start)
	copy(m.centre, m.start)
	return m
}

// move moves the centre to the minimiser for η = rate and s = sum. It starts from the present centre and uses
// Frank-Wolfe with exact line search, or computes the projection.
func (m *mirror) move(rate float64, sum []float64) {
	x := m.centre
	if m.projection != nil {
		for i, s := range sum {
			m.slope[i] = m.start[i] - float64(rate*s)
		}
		m.projection.Project(x, m.slope)
		return
	}
	for range m.maxSteps {
		for i, s := range sum {
			m.slope[i] = x[i] - m.start[i] + float64(rate*s)
		}
		m.oracle.Minimise(m.vertex, m.slope)
		gap, squares := 0.0, 0.0
		for i, y := range m.vertex {
			away := x[i] - y
			gap += float64(m.slope[i] * away)
			squares += float64(away * away)
		}
		if float64(2*gap) <= m.stopGap || squares == 0 {
			return
		}
		step := min(1, gap/squares)
		for i, y := range m.vertex {
			x[i] += float64(step * (y - x[i]))
		}
	}
}
