package mechtest

import (
	"math"
	"slices"
	"testing"

	"oriel/mechanisms/contribution"
	"oriel/mechanisms/lattice"
)

// LargestDistances returns the squares of the largest distance between two contributions and of the largest distance
// from zero, over all given vectors, on a lattice whose squares fit 64 bits. size is the number of integers in a
// contribution.
func LargestDistances(
	g lattice.Grid, q contribution.Quantiser, size int, vectors [][]float64,
) (replace, zeroOut uint64) {
	square := func(x, y []int64) (sum uint64) {
		for i := range x {
			sum += uint64((x[i] - y[i]) * (x[i] - y[i]))
		}
		return sum
	}
	zero, contributions := make([]int64, size), Quantised(g, q, size, vectors)
	for i, x := range contributions {
		zeroOut = max(zeroOut, square(x, zero))
		for _, y := range contributions[:i] {
			replace = max(replace, square(x, y))
		}
	}
	return replace, zeroOut
}

// Quantised returns the distinct contributions of all given vectors, in order.
func Quantised(g lattice.Grid, q contribution.Quantiser, size int, vectors [][]float64) [][]int64 {
	var contributions [][]int64
	for _, v := range vectors {
		integers := make([]int64, size)
		q.Quantise(g, integers, v)
		contributions = append(contributions, integers)
	}
	slices.SortFunc(contributions, slices.Compare)
	return slices.CompactFunc(contributions, slices.Equal)
}

// Claims returns the squared distances that a quantiser claims, for a grid whose squares fit 64 bits.
func Claims(tb testing.TB, g lattice.Grid, q contribution.Quantiser) (replace, zeroOut uint64) {
	tb.Helper()
	squareReplace, squareZero := q.Distances(g)
	if squareReplace.Hi != 0 || squareZero.Hi != 0 {
		tb.Fatalf("distances %v and %v do not fit a word", squareReplace, squareZero)
	}
	return squareReplace.Lo, squareZero.Lo
}

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
