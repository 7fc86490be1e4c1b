package subject

import (
	"math"
	"slices"

	"oriel/mechanisms/contribution"
	"oriel/mechanisms/lattice"
	"oriel/operators"
)

// Quantised returns the integers into which the quantiser turns a contribution's numbers.
func Quantised(q contribution.Quantiser, grid lattice.Grid, size int, numbers []float64) []int64 {
	vector := make([]int64, size)
	q.Quantise(grid, vector, numbers)
	return vector
}

// Square returns the square of a distance, rounded once.
func Square(x, y []int64) float64 {
	difference := make([]int64, len(x))
	for i := range x {
		difference[i] = x[i] - y[i]
	}
	return lattice.Grid{}.Float64(lattice.SquaredLength(difference))
}

// Differences returns a − b, entry by entry.
func Differences(a, b []float64) []float64 {
	out := slices.Clone(a)
	for i, x := range b {
		out[i] -= x
	}
	return out
}

// Contribution writes the contribution that a record should add to the audited components, loss units. It takes the
// reference model's numbers of all components, and clips and rounds them to the lattice with code of its own. For a
// record that adds nothing, it writes zeros and returns false.
func (a *Subject) Contribution(dst, all []float64, reference operators.ReferenceModel, r operators.Record) bool {
	clear(dst)
	if !reference.Contribution(all, r) {
		return false
	}
	for k, of := range a.Components {
		from, to := a.Bounds(a.First + k)
		a.componentContribution(dst[of.From:of.To], all[from:to], k)
	}
	return true
}

// componentContribution writes the contribution that a component makes of its numbers. If the component has a
// quantiser, the machine's own quantiser defines the contribution; the check of distances tests the quantiser's claim.
func (a *Subject) componentContribution(dst, numbers []float64, k int) {
	grid, integers := a.Components[k].Grid, a.Integers[a.Components[k].From:a.Components[k].To]
	unit := grid.Unit()
	q := a.Mechanism.Contribution.Components[k].Quantiser
	if _, ball := q.(contribution.Ball); ball {
		// A contribution may be at most half the accounted distance away from its centre.
		limit, away := math.Sqrt(lattice.Grid{}.Float64(a.Calibration.Component(k).Replace))/2*unit, make([]float64, len(dst))
		for i := range dst {
			dst[i] = math.RoundToEven(numbers[len(dst)+i]/unit) * unit
			away[i] = numbers[i] - dst[i]
		}
		factor := min(1, limit/lattice.Norm(away))
		for i, d := range away {
			dst[i] += math.RoundToEven(d*factor/unit) * unit
		}
		return
	}
	if q != nil {
		for i, n := range Quantised(q, grid, len(dst), numbers) {
			dst[i] = float64(n) * integers[i]
		}
		return
	}
	for i, v := range numbers {
		dst[i] = v * unit / integers[i] // a release is divided by the square root of the coordinate's scale
	}
	factor := min(1, grid.Clip()/lattice.Norm(dst))
	for i, g := range dst {
		dst[i] = math.RoundToEven(g*factor/unit) * integers[i]
	}
}

// centres writes the public centres of a record's contributions, as the reference model reports them, and zeros where a
// contribution has none.
func (a *Subject) centres(dst, all []float64, adds bool) {
	clear(dst)
	for k, of := range a.Components {
		if _, ball := a.Mechanism.Contribution.Components[k].Quantiser.(contribution.Ball); !ball || !adds {
			continue
		}
		from, to := a.Bounds(a.First + k)
		for i, x := range all[from+of.To-of.From : to] {
			dst[of.From+i] = math.RoundToEven(x/of.Grid.Unit()) * of.Grid.Unit()
		}
	}
}
