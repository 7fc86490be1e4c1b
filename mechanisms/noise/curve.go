package noise

import (
	"math/big"
	"math/bits"

	"oriel/mechanisms/noise/internal/tables"
)

// curve is a symmetric law given by its lower tail: x(v) = −F⁻¹(v) for v in (0, 1/2], decreasing and convex.
type curve struct {
	frac  int // fraction bits of x
	table *tables.Fine
	slack *tables.Slack // |evaluation − x(v')| for all v' of the cell, in units of 2^-frac, by octave
	tail  tail

	coarse      *tables.Coarse
	coarseSlack uint64 // bound on the coarse table's error, over all octaves
}

// tail returns F(−y) within two units, and the density at −y approximately; all with p fraction bits, y ≥ 0.
type tail func(y *big.Int, p uint) (survival, density *big.Int)

var (
	gaussianCurve = curve{
		frac: 61, table: &tables.Gaussian, slack: &tables.GaussianSlack, tail: gaussianTail,
		coarse: &tables.GaussianCoarse, coarseSlack: tables.GaussianCoarseSlack,
	}
	laplaceCurve = curve{
		frac: 59, table: &tables.Laplace, slack: &tables.LaplaceSlack, tail: laplaceTail,
		coarse: &tables.LaplaceCoarse, coarseSlack: tables.LaplaceCoarseSlack,
	}
)

// fold maps a word to its lower-tail half by complementing all bits if the top one is set. mask is the number that was
// xored; the draw is negative if mask is zero.
func fold(word uint64) (a, mask uint64) {
	mask = uint64(int64(word) >> 63)
	return word ^ mask, mask
}

// signed returns the draw of magnitude n for a word.
func signed(n int64, word uint64) int64 {
	_, mask := fold(word)
	return (int64(mask) - n) ^ int64(mask)
}

// beyond is the error bound of a word beyond the table: more than half of any shift, so that round reports a doubt.
const beyond = 1<<63 - 1

// fine evaluates the fine table: x is within slack of x(v') for all v' of the word's cell. Horner's floors lose less
// than 1 + tables.Degree·2^-tables.Guard units of x; the stored c0 includes half of the loss.
func (c *curve) fine(word uint64) (x, slack uint64) {
	a, _ := fold(word)
	octave := uint(bits.LeadingZeros64(a)) - 1
	if octave >= tables.Octaves {
		return 0, beyond
	}
	a <<= octave + 2 // shifts the leading one out
	row := &c.table[octave*tables.Segments+uint(a>>58)]
	t := ^(a << 6)
	s, _ := bits.Mul64(row[7], t)
	s, _ = bits.Mul64(row[6]+s, t)
	s, _ = bits.Mul64(row[5]+s, t)
	s, _ = bits.Mul64(row[4]+s, t)
	s, _ = bits.Mul64(row[3]+s, t)
	s, _ = bits.Mul64(row[2]+s, t)
	s, _ = bits.Mul64(row[1]+s, t)
	return row[0] + s>>tables.Guard, c.slack[octave]
}

// beyondTable is fine for a word beyond the table, by the slow path. ok is false if x exceeds 64 bits, which happens
// once in 2^49 words.
func (c *curve) beyondTable(d *digits) (x, slack uint64, ok bool) {
	d.extend(128)
	at := c.enclose(d, interval{})
	up := at.p - uint(c.frac)
	lo, hi := at.lo.Rsh(at.lo, up), at.hi.Rsh(at.hi, up)
	if hi.BitLen() > 64 || hi.Uint64() > 1<<64-1<<32 {
		return 0, 0, false
	}
	return lo.Uint64(), hi.Uint64() - lo.Uint64() + 1, true
}

// factor is a scale prepared for fixed point: x·s ≈ floor(x·mant/2^64)·2^-shift for x in fixed point.
type factor struct {
	mant  uint64
	shift uint   // 1 … 63; 0 marks the zero factor, with which every draw is in doubt
	slack uint64 // error bound of product and lift in units of 2^-shift, without the error of x
	lift  uint64 // what is added before the fraction is cut off, in units of 2^-shift: a half to round
}

// times prepares the factor m·2^e for m in [2^63, 2^64) that is known within slack. ok is false if the product would
// need more than 64 bits.
func (c *curve) times(m uint64, e int, slack uint64) (f factor, ok bool) {
	shift := c.frac - 64 - e
	if shift < 1 || slack > beyond/2 {
		return factor{}, false
	}
	if extra := shift - 63; extra > 0 { // a small scale, for which the low bits do not matter
		m >>= extra
		shift = 63
	}
	// One unit for the floor of the product, and one for bits of m that may have been dropped (x < 2^64).
	return factor{mant: m, shift: uint(shift), slack: slack + 2, lift: 1 << (shift - 1)}, true
}

// window, for a factor and an error bound of x, decides whether y = floor(x·mant/2^64) + offset rounds without doubt:
// if the bits of y below shift, minus low, are less than width, floor(x·s + lift) is y>>shift.
type window struct{ offset, low, width uint64 }

// window returns the window of x within slack: offset is the lift minus both error bounds, and width is the remaining
// part of a unit.
func (f factor) window(slack uint64) window {
	if slack += f.slack; slack >= f.lift { // the lift is at most half a unit
		return window{}
	}
	unit := uint64(1) << (f.shift & 63)
	return window{offset: f.lift - slack, low: unit - 1, width: unit - 2*slack}
}

// round returns floor(x·s + lift) for x known within slack; ok is false if two integers are possible.
func (f factor) round(x, slack uint64) (n int64, ok bool) {
	w := f.window(slack)
	y, _ := bits.Mul64(x, f.mant)
	y += w.offset
	return int64(y >> (f.shift & 63)), y&w.low < w.width
}
