package block_test

import (
	"testing"

	"oriel/mechanisms/contribution"
	"oriel/mechanisms/lattice"
	"oriel/operators/aggregate/block"
)

// TestAbsoluteDistancesByEnumeration compares the ℓ1 distances with all contributions of dense events: none is longer
// than claimed, one is as long, and two of different cells are twice as far apart. Every contribution is on its steps.
// The norm of ℓ2 in place of ℓ1 must be found to be too short where a cell has several columns.
func TestAbsoluteDistancesByEnumeration(t *testing.T) {
	for _, b := range blocks() {
		for _, weight := range []float64{1, 1.75} {
			h := block.OneHot{Block: b, Cells: 2, Weight: weight}
			g, err := lattice.NewGrid(h.Component().Clip)
			if err != nil {
				t.Fatal(err)
			}
			replace, zeroOut := h.AbsoluteDistances(g)
			steps, longest, apart, all := h.Steps(g), uint64(0), uint64(0), [][]int64{}
			last := len(steps) - 1
			if len(steps) != b.Size() || (steps[0] > 1) != ((b.Count > 0 || last+1 == b.Bins && b.Histogram) && weight == 1) ||
				(steps[last] > 1) != ((last == 0 && b.Count > 0 || b.Histogram) && weight == 1) {
				t.Errorf("%+v: steps %d", h, steps)
			}
			for _, v := range entries(h.Cells, 40) {
				n := make([]int64, h.Size())
				h.Quantise(g, n, v)
				if !contribution.Within(n, 0, zeroOut, steps) {
					t.Fatalf("%+v: %v has %v, beyond %d or off the steps %d", h, v, n, zeroOut, steps)
				}
				longest, all = max(longest, distance(n, make([]int64, len(n)))), append(all, n)
			}
			for i, x := range all {
				for _, y := range all[:i] {
					apart = max(apart, distance(x, y))
				}
			}
			if longest != zeroOut || apart > replace || apart < replace-2 {
				t.Errorf("%+v: longest %d of %d, farthest %d of %d", h, longest, zeroOut, apart, replace)
			}
			if _, square := claims(t, g, h); b.Size() > 1 && (b.Size() > b.Bins || !b.Histogram) && longest*longest <= square {
				t.Errorf("%+v: an ℓ2 norm of √%d is not found to be too short for %d", h, square, longest)
			}
		}
	}
}

// distance returns the ℓ1 distance of two contributions.
func distance(x, y []int64) (sum uint64) {
	for i := range x {
		sum += uint64(max(x[i]-y[i], y[i]-x[i]))
	}
	return sum
}
