package optest

import (
	"math"
	"testing"

	"oriel/mechanisms/contribution"
	"oriel/mechanisms/lattice"
)

// DistancesAreReached checks that the distances between contributions of values, and their lengths, are within the
// bounds that the Quantiser declares. The first two contributions must reach the declared distance and length up to a
// thousandth, so that the declared bounds are not too large either.
func DistancesAreReached(tb testing.TB, q contribution.Quantiser, g lattice.Grid, size int, values ...[]float64) {
	tb.Helper()
	replace, zeroOut := q.Distances(g)
	squared := func(x lattice.Int128) float64 { return math.Ldexp(float64(x.Hi), 64) + float64(x.Lo) }
	shares := func(a, b []float64) (apart, long float64) {
		x, y := make([]int64, size), make([]int64, size)
		q.Quantise(g, x, a)
		q.Quantise(g, y, b)
		for i := range x {
			away := float64(x[i] - y[i])
			apart, long = apart+away*away, long+float64(x[i])*float64(x[i])
		}
		return math.Sqrt(apart / squared(replace)), math.Sqrt(long / squared(zeroOut))
	}
	for i, a := range values {
		for j, b := range values {
			if apart, long := shares(a, b); apart > 1 || long > 1 {
				tb.Fatalf("contributions %d and %d are %v of the distance apart, the first %v of the length", i, j, apart, long)
			}
		}
	}
	if apart, long := shares(values[0], values[1]); apart < 0.999 || long < 0.999 {
		tb.Fatalf("the far ends are %v of the distance apart, the first %v of the length", apart, long)
	}
}
