package block

import (
	"math"

	"oriel/mechanisms/lattice"
)

// cellDistance bounds the squared distance between two contributions to one cell, both of weight 1. The bound is exact,
// except for rounding, if the cell has no squares or no bins.
//
// For bins i and i + lag: the rows that both columns fill have the entries r_k and r_{k+lag}, and a smaller i has more
// such rows. So among all pairs with this lag, the columns of bins 0 and lag are at the largest distance. Values in
// such bins differ by less than (lag + 1)·2/m and by more than (lag − 1)·2/m.
func cellDistance(u units) (square uint64) {
	if u.bins == 0 {
		return moments(u.mean, u.square, 0, 2)
	}
	width := 2 / float64(u.bins)
	for lag := range u.bins {
		near, far := max(0, float64(float64(lag-1)*width)), min(2, float64(float64(lag+1)*width))
		square = max(square, add(columns(u, lag), moments(u.mean, u.square, near, far)))
	}
	return square
}

// columns returns the exact squared distance of the columns of bins 0 and lag.
func columns(u units, lag int) (square uint64) {
	for k := range u.bins {
		d := u.entry(k)
		if k >= lag {
			d -= u.entry(k - lag)
		}
		square = add(square, uint64(d*d))
	}
	return square
}

// moments bounds the squared distance of two pairs (s, t) of one cell, where s = Bx and t = C(x² − ½) are rounded. The
// two values x differ by at least near and at most far, both within [0, 2].
//
// Without rounding the squared distance is u²(B² + C²v²) for u = x − y and v = x + y, |u| + |v| ≤ 2, so at most F(v) =
// (2−v)²(B² + C²v²) for v = 2 − |u|. On an interval F is largest at an end or, for C² > 2B², at v = (1 + √(1 −
// 2B²/C²))/2. Rounding changes the distance by less than 4. If the cell has no squares, the bound needs only |s| ≤ B.
func moments(mean, square int64, near, far float64) uint64 {
	if square == 0 && far == 2 {
		return 4 * uint64(mean) * uint64(mean)
	}
	b, c := float64(mean), float64(square)
	at := func(v float64) float64 {
		return float64((2 - v) * math.Sqrt(float64(b*b)+float64(float64(c*v)*float64(c*v))))
	}
	distance := max(at(2-far), at(2-near))
	ratio := b / c
	if rest := 1 - float64(2*float64(ratio*ratio)); square > 0 && rest >= 0 {
		if v := (1 + math.Sqrt(rest)) / 2; 2-far < v && v < 2-near {
			distance = max(distance, at(v))
		}
	}
	up := min(uint64(math.Ceil(float64(distance*(1+0x1p-40))))+4, math.MaxUint32)
	return up * up
}

// AbsoluteDistances returns the distances that PROOF.md, claim 4, defines, in the ℓ1 norm: zeroOut between a
// contribution and zero, which one contribution attains, and replace between any two contributions.
func (h OneHot) AbsoluteDistances(g lattice.Grid) (replace, zeroOut uint64) {
	coarse, shift := coarsest(g)
	u := h.units(coarse)
	zeroOut = uint64(u.count) + uint64(u.mean) + uint64(u.square+1)/2
	for k := range u.bins {
		zeroOut += uint64(u.entry(k))
	}
	zeroOut <<= shift
	return 2 * zeroOut, zeroOut
}

// Steps returns the steps of a cell's columns: if events have no weights, a count is a multiple of A, and a bin of a
// histogram one of K, so that their noise need not be finer.
func (h OneHot) Steps(g lattice.Grid) []int64 {
	coarse, shift := coarsest(g)
	steps := make([]int64, h.Block.Size())
	for i := range steps {
		steps[i] = 1 << shift
	}
	u := h.units(coarse)
	if h.Weight == 1 && h.Count > 0 && u.count > 0 {
		steps[0] = u.count << shift
	}
	if h.Weight == 1 && u.histogram && u.quantile > 0 {
		for i := len(steps) - u.bins; i < len(steps); i++ {
			steps[i] = u.quantile << shift
		}
	}
	return steps
}
