package block_test

import (
	"math"
	"testing"

	"oriel/mechanisms/lattice"
	"oriel/operators/aggregate/block"
)

// TestWeightsPayTheirRounding checks claim 3 of PROOF.md for one cell with weights: the distance without weights, or
// from zero if that is longer, and √k more for the rounding of k coordinates. A block whose columns are larger by the
// largest weight has the same integers without weights.
func TestWeightsPayTheirRounding(t *testing.T) {
	const most = 1.75
	for _, b := range blocks() {
		h := block.OneHot{Block: b, Cells: 1, Weight: most}
		b.Count, b.Mean, b.Square, b.Quantile = most*b.Count, most*b.Mean, most*b.Square, most*b.Quantile
		alone := block.OneHot{Block: b, Cells: 1, Weight: 1}
		fine, err := lattice.NewGrid(h.Component().Clip)
		if err != nil {
			t.Fatal(err)
		}
		for _, g := range []lattice.Grid{{Exp: -6, Lambda: 1 << 20}, fine} {
			replace, zeroOut := claims(t, g, h)
			near, same := claims(t, g, alone)
			if zeroOut != same {
				t.Fatalf("%+v: √%d from zero, √%d without weights", h, zeroOut, same)
			}
			least := math.Sqrt(float64(max(near, zeroOut))) + math.Sqrt(float64(h.Block.Size()))
			least = min(least, 2*math.Sqrt(float64(zeroOut)))
			if got := math.Sqrt(float64(replace)); got < least-1e-6 || got > least+2 {
				t.Errorf("%+v on 2^%d: %g apart, want %g, rounded up", h, g.Exp, got, least)
			}
		}
	}
}
