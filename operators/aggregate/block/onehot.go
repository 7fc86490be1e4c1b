package block

import (
	"errors"
	"fmt"
	"math"
	"math/bits"

	"oriel/mechanisms/contribution"
	"oriel/mechanisms/lattice"
)

// one is the integer that represents x = 1 and also the largest weight.
const one = 1 << 30

// OneHot is the Quantiser of events that fall into one of several public cells. Its input has three numbers. The first
// is the cell, 0 to Cells − 1; −1 or any other number means no cell, and the contribution is zero. The second is the
// value x, clamped to [−1, 1]. The third is the weight, clamped to [0, Weight]. A NaN gives the zero contribution. If
// Weight is 1, events have no weights, and the third number is not read.
type OneHot struct {
	Block
	Cells  int     // number of cells, 1 to 2²⁴
	Weight float64 // the largest weight, > 0; 1 if events have no weights
}

// Size returns the coordinates of all cells.
func (h OneHot) Size() int { return h.Cells * h.Block.Size() }

// Entries returns 3, the numbers of an event: cell, value and weight.
func (OneHot) Entries() int { return 3 }

// Validate reports every problem at once.
func (h OneHot) Validate() error {
	errs := []error{h.Block.Validate()}
	if h.Cells < 1 || h.Cells > 1<<24 || h.Block.Size() > 0 && h.Cells > 1<<24/h.Block.Size() {
		errs = append(errs, fmt.Errorf("block: %d cells of %d coordinates: not in [1, 2^24] together", h.Cells, h.Block.Size()))
	}
	if !(h.Weight >= 0x1p-20 && h.Weight <= 0x1p20) {
		errs = append(errs, fmt.Errorf("block: largest weight %g: not in [2^-20, 2^20]", h.Weight))
	}
	return errors.Join(errs...)
}

// Component returns a component with these contributions, on a grid that holds the longest of them. If h is invalid,
// the result has no meaning.
func (h OneHot) Component() contribution.Component {
	const room = 1 + 0x1p-22 // C/2 is rounded up by less than one of Λ = 2²⁴ units; the rest is float64's rounding
	return contribution.Component{Size: h.Size(), Clip: float64(float64(h.Norm()*h.Weight) * room), Quantiser: h}
}

// units holds the weights of the columns for an event of the largest weight. They are integers in units of a grid,
// rounded down.
type units struct {
	count, mean, square, quantile int64
	bins                          int
	histogram                     bool
}

func (h OneHot) units(g lattice.Grid) units {
	down := func(weight float64) int64 {
		// The bound is 2Λ and not Λ, because a contribution contains only half of C.
		return int64(min(math.Floor(float64(weight*h.Weight)/g.Unit()), float64(2*float64(g.Lambda))))
	}
	return units{
		count: down(h.Count), mean: down(h.Mean), square: down(h.Square), quantile: down(h.Quantile),
		bins: h.bins(), histogram: h.Histogram,
	}
}

// coarsest returns the grid on which contributions are computed. A finer lattice, which only noise needs, multiplies
// the contributions of the 31-bit lattice, and their distances, by 2^shift.
func coarsest(g lattice.Grid) (coarse lattice.Grid, shift uint) {
	shift = uint(max(0, g.Bits()-31))
	return lattice.Grid{Exp: g.Exp + int(shift), Lambda: g.Lambda >> shift}, shift
}

// Distances returns the squared distances that PROOF.md defines: replace between any two contributions, zeroOut between
// one contribution and zero.
func (h OneHot) Distances(g lattice.Grid) (replace, zeroOut lattice.Int128) {
	coarse, shift := coarsest(g)
	near, far := h.distances(coarse)
	scaled := func(square uint64) lattice.Int128 {
		return lattice.Int128{Hi: int64(square >> (64 - 2*shift)), Lo: square << (2 * shift)}
	}
	return scaled(near), scaled(far)
}

// distances is Distances on a lattice of at most 31 bits. Some contributions attain zeroOut. If the length of replace
// is √2 times the length of zeroOut, some pairs of contributions attain replace, too. On such a lattice 4·zeroOut is
// below (2³² − 1)², so that a squared distance that add cuts off still reaches the bound of the triangle inequality.
func (h OneHot) distances(g lattice.Grid) (replace, zeroOut uint64) {
	u := h.units(g)
	half := uint64(u.square+1) / 2
	for _, square := range [...]uint64{
		uint64(u.count) * uint64(u.count), uint64(u.mean) * uint64(u.mean), half * half, u.longest(),
	} {
		zeroOut = add(zeroOut, square)
	}
	if zeroOut > uint64(g.Lambda)*uint64(g.Lambda) {
		return zeroOut, zeroOut // g cannot be the grid of a Component
	}
	within := min(cellDistance(u), 4*zeroOut)
	if h.Weight != 1 { // rounding towards zero changes a difference of coordinates by less than 1 more
		r := min(root(max(within, zeroOut))+root(uint64(h.Block.Size())), math.MaxUint32)
		within = r * r
	}
	replace = max(within, zeroOut)
	if h.Cells > 1 {
		replace = max(replace, 2*zeroOut)
	}
	return min(replace, 4*zeroOut), zeroOut
}

// add returns x + y, or the largest uint64 on overflow. A sum of squares that exceeds 64 bits also exceeds Λ² and
// 4·zeroOut.
func add(x, y uint64) uint64 {
	sum, carry := bits.Add64(x, y, 0)
	return sum | -carry
}

// root returns ⌈√x⌉ for x ≤ (2³² − 1)².
func root(x uint64) uint64 {
	r := uint64(math.Sqrt(float64(x)))
	for r*r > x {
		r--
	}
	for r*r < x {
		r++
	}
	return r
}

// Range returns the coordinates of the cell of v, and none if v has no cell or no value.
func (h OneHot) Range(v []float64) (from, to int) {
	cell := v[0]
	if !(cell >= 0 && cell < float64(h.Cells)) || cell != math.Floor(cell) || math.IsNaN(v[1]) {
		return 0, 0
	}
	n := h.Block.Size()
	return int(cell) * n, int(cell)*n + n
}

// Quantise writes the contribution to dst; all cells but one are zero.
func (h OneHot) Quantise(g lattice.Grid, dst []int64, v []float64) {
	from, to := h.Range(v)
	h.QuantiseRange(g, dst[from:to], v)
}

// QuantiseRange writes the coordinates of the cell.
func (h OneHot) QuantiseRange(g lattice.Grid, dst []int64, v []float64) {
	if len(dst) == 0 {
		return
	}
	x, weight, share := v[1], v[2], int64(one)
	if h.Weight != 1 {
		if math.IsNaN(weight) {
			return
		}
		share = int64(float64(min(max(weight, 0), h.Weight) / h.Weight * one))
	}
	value := nearest(min(max(x, -1), 1))
	coarse, shift := coarsest(g)
	h.units(coarse).write(dst, h.Block, min(max(value, -one), one), min(max(share, 0), one))
	for i := range dst {
		dst[i] <<= shift
	}
}

// nearest returns x·2³⁰, rounded to the nearest integer, for |x| ≤ 1. Adding 0.5 is the only operation that rounds.
func nearest(x float64) int64 { return int64(math.Floor(float64(x*one) + 0.5)) }

// write writes the columns of one cell. value is x and share is the weight's fraction of the largest weight, as
// integers with |value| ≤ one and 0 ≤ share ≤ one.
func (u units) write(dst []int64, b Block, value, share int64) {
	at := 0
	put := func(present bool, x int64) {
		if present {
			dst[at] = weighted(x, share)
			at++
		}
	}
	put(b.Count > 0, u.count)
	put(b.Mean > 0, (u.mean*value+one/2)>>30)
	y := (2*value*value - one*one + one/2) >> 30
	put(b.Square > 0, (u.square*y+one)>>31)
	if u.bins == 0 {
		return
	}
	bin := u.bin(value)
	for k := range u.bins - bin {
		dst[at+bin+k] = weighted(u.entry(k), share)
	}
}

// bin returns ⌊(x+1)·m/2⌋, or the last bin for x = 1.
func (u units) bin(value int64) int {
	return min(int((value+one)*int64(u.bins)>>31), u.bins-1)
}

// weighted returns x·share/2³⁰, rounded towards zero, for a share in units of 2⁻³⁰.
func weighted(x, share int64) int64 {
	if share == one {
		return x
	}
	negative := x < 0
	if negative {
		x = -x
	}
	high, low := bits.Mul64(uint64(x), uint64(share))
	x = int64(high<<34 | low>>30)
	if negative {
		return -x
	}
	return x
}
