package contribution_test

import (
	"math"
	"testing"

	"oriel/mechanisms/contribution"
	"oriel/mechanisms/lattice"
	"oriel/mechanisms/mechtest"
)

// TestMarksKeepToTheirDistances tries all vectors of typical numbers, including several marks at once. No two
// contributions may be farther apart than the claimed distance, and some must attain it.
func TestMarksKeepToTheirDistances(t *testing.T) {
	g, err := lattice.NewGrid(1)
	if err != nil {
		t.Fatal(err)
	}
	numbers := []float64{0, 1, 1e9, -1, math.SmallestNonzeroFloat64, math.NaN(), math.Inf(1), math.Inf(-1)}
	for columns := 1; columns <= 3; columns++ {
		q := contribution.Marks{Columns: columns}
		if c := q.Component(); c.Size != columns || c.Entries() != columns || g.Unit()*float64(g.Lambda) != c.Clip {
			t.Fatalf("%d columns: component %+v", columns, c)
		}
		vectors := [][]float64{nil}
		for range columns {
			var longer [][]float64
			for _, v := range vectors {
				for _, x := range numbers {
					longer = append(longer, append(append([]float64(nil), v...), x))
				}
			}
			vectors = longer
		}
		claimReplace, claimZero := mechtest.Claims(t, g, q)
		replace, zeroOut := mechtest.LargestDistances(g, q, columns, vectors)
		if replace != claimReplace || zeroOut != claimZero {
			t.Errorf("%d columns: squares of distances %d and %d, claimed %d and %d", columns, replace, zeroOut, claimReplace,
				claimZero)
		}
	}
}
