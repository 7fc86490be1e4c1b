package contribution

import (
	"testing"

	"oriel/mechanisms/lattice"
)

// TestDistancesThatCannotBeAreRefused checks that impossible distances of a quantiser are refused: a contribution must
// be within Λ of zero, and two contributions at most twice the zero-out distance apart.
func TestDistancesThatCannotBeAreRefused(t *testing.T) {
	g := lattice.Grid{Lambda: 1 << 24}
	most := lattice.Square(g.Lambda)
	of := func(x int64) lattice.Int128 { return lattice.Int128{Lo: uint64(x)} }
	for _, row := range []struct {
		replace, zeroOut lattice.Int128
		allowed          bool
	}{
		{of(1), of(1), true},
		{of(4), of(1), true},
		{of(5), of(1), false},
		{of(0), of(1), false},
		{of(1), of(0), false},
		{most.Add(most).Add(most).Add(most), most, true},
		{most.Add(most).Add(most).Add(most).Add(of(1)), most, false},
		{most, most.Add(of(1)), false},
	} {
		if err := CheckDistances(g, row.replace, row.zeroOut); (err == nil) != row.allowed {
			t.Errorf("%v and %v: %v", row.replace, row.zeroOut, err)
		}
	}
}
