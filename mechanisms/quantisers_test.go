package mechanisms_test

import (
	"math"
	"math/big"
	"slices"
	"testing"

	"oriel/mechanisms/contribution"
	"oriel/mechanisms/lattice"
	"oriel/mechanisms/mechtest"
)

// moments is a quantiser for second moments. It takes a vector a of d numbers within [−1, 1], and rounds it to the
// nearest A in Z^d·r⁻¹ with |A| ≤ 1. The contribution is the upper triangle of AAᵀ in units of r⁻²: A_iA_j exactly off
// the diagonal, and A_i²/√2 rounded to the nearest integer on it. With scales 2 on the diagonal, |vech|² = ½|A|⁴ up to
// d roundings by a half. So two contributions are at most r² + √d apart (for orthogonal A and B), and a contribution is
// at most r²/√2 + √d/2 from the null contribution.
type moments struct {
	d     int
	r     int64
	plain bool // plants a fault: the diagonal is not scaled by √2
}

func (m moments) Entries() int { return m.d }

func (m moments) size() int { return m.d * (m.d + 1) / 2 }

// scales returns 2 on the diagonal and 1 elsewhere.
func (m moments) scales() []uint32 {
	out := make([]uint32, 0, m.size())
	for i := range m.d {
		for j := i; j < m.d; j++ {
			out = append(out, 1+uint32(1-min(1, j-i)))
		}
	}
	return out
}

func (m moments) Distances(lattice.Grid) (replace, zeroOut lattice.Int128) {
	r, d := float64(m.r*m.r), math.Sqrt(float64(m.d))
	up := func(length float64) lattice.Int128 { return lattice.Int128{Lo: uint64(math.Ceil(length * length))} }
	return up(r + d), up(r/math.Sqrt2 + d/2)
}

func (m moments) Quantise(_ lattice.Grid, dst []int64, v []float64) {
	a := make([]int64, m.d)
	square := int64(0)
	for i, x := range v {
		if !(math.Abs(x) <= 1) {
			clear(dst)
			return
		}
		a[i] = int64(math.RoundToEven(x * float64(m.r)))
		square += a[i] * a[i]
	}
	if square > m.r*m.r {
		clear(a)
	}
	at := 0
	for i := range m.d {
		for j := i; j < m.d; j++ {
			if dst[at] = a[i] * a[j]; i == j && !m.plain {
				dst[at] = rootHalf(dst[at])
			}
			at++
		}
	}
}

// rootHalf returns x/√2 to the nearest integer, exactly, for x ≥ 0: ⌊(⌊√(2x²)⌋ + 1)/2⌋, because a half is never a root.
func rootHalf(x int64) int64 {
	square := new(big.Int).Mul(big.NewInt(2*x), big.NewInt(x))
	return (square.Sqrt(square).Int64() + 1) / 2
}

// lattices returns all vectors of d numbers in −1 … 1 by steps of 1/r, and some invalid vectors.
func lattices(d int, r int64) [][]float64 {
	out := [][]float64{make([]float64, d)}
	for i := range d {
		var next [][]float64
		for _, v := range out {
			for x := -r; x <= r; x++ {
				w := slices.Clone(v)
				w[i] = float64(x) / float64(r)
				next = append(next, w)
			}
		}
		out = next
	}
	nan, inf := slices.Repeat([]float64{math.NaN()}, d), slices.Repeat([]float64{math.Inf(-1)}, d)
	return append(out, nan, inf, slices.Repeat([]float64{1e300}, d))
}

// TestDistancesByEnumeration enumerates all contributions. No pair is farther apart, in the scaled norm, than the
// claim, and the claim is tight. It must fail for a claim too small by √2, and for an unscaled diagonal.
func TestDistancesByEnumeration(t *testing.T) {
	g, err := lattice.NewGrid(1)
	if err != nil {
		t.Fatal(err)
	}
	f := func(what string, q contribution.Quantiser, size int, vectors [][]float64, holds bool) {
		t.Helper()
		replace, zeroOut := mechtest.LargestDistances(g, q, size, vectors)
		claimReplace, claimZero := mechtest.Claims(t, g, q)
		if within := replace <= claimReplace && zeroOut <= claimZero; within != holds {
			t.Errorf("%s: √%d and √%d, claimed √%d and √%d", what, replace, zeroOut, claimReplace, claimZero)
		}
		if holds && (float64(replace) < 0.8*float64(claimReplace) || float64(zeroOut) < 0.8*float64(claimZero)) {
			t.Errorf("%s: √%d and √%d is much less than claimed, √%d and √%d", what, replace, zeroOut, claimReplace, claimZero)
		}
	}
	cells := [][]float64{{0}, {1}, {2}, {2.5}, {3}, {-1}, {math.NaN()}, {math.Inf(1)}, {1e300}}
	f("one-hot", mechtest.OneHot{}, 3, cells, true)
	f("one-hot, short by √2", mechtest.OneHot{Short: true}, 3, cells, false)
	for _, m := range []moments{{d: 2, r: 20}, {d: 3, r: 20}} {
		vectors := lattices(m.d, min(m.r, map[int]int64{2: 20, 3: 5}[m.d]))
		f("second moments", m, m.size(), vectors, true)
		m.plain = true
		f("second moments, the diagonal not scaled", m, m.size(), vectors, false)
	}
}
