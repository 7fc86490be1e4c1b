package noise

import (
	"math/big"
	"math/bits"
)

// The tables. A lower-tail value v in (0, 1/2) with lz leading zero bits is in octave lz−1; the six bits after its
// leading one are its segment; what follows is its place h in [0,1) in the segment. With t = 1 − h the curve is
//
//	x(v) = c0 + c1·t + … + c7·t^7,   every c ≥ 0,
//
// in unsigned fixed point: c0 and x have frac fraction bits, the other coefficients guard more. 24 octaves leave a draw
// in 2^23 to the slow path; one octave more or less changes nothing that can be measured. A row is one cache line.
const (
	octaves  = 24
	segments = 64
	degree   = 7
	guard    = 9
)

// curve is a symmetric law by its lower tail: x(v) = −F⁻¹(v) for v in (0, 1/2), decreasing and convex.
type curve struct {
	frac  int // fraction bits of x
	table *[octaves * segments][degree + 1]uint64
	slack *[octaves]uint64 // |evaluation − x(v')| for all v' of the cell, in units of 2^-frac, by octave
	tail  tail
}

// tail returns F(−y) within two units, and the density at −y approximately; all with p fraction bits, y ≥ 0.
type tail func(y *big.Int, p uint) (survival, density *big.Int)

var (
	gaussianCurve = curve{frac: 61, table: &gaussianTable, slack: &gaussianSlack, tail: gaussianTail}
	laplaceCurve  = curve{frac: 59, table: &laplaceTable, slack: &laplaceSlack, tail: laplaceTail}
)

//go:generate go run ./internal/gen

// fold maps a word to its lower-tail half by complementing all bits if the top one is set. mask is what was xored; the
// draw is negative where it is zero.
func fold(word uint64) (a, mask uint64) {
	mask = uint64(int64(word) >> 63)
	return word ^ mask, mask
}

// points is what a chunk of words says about x without rounding.
type points struct {
	x    [chunkWords]uint64 // with frac fraction bits
	mark [chunkWords]uint64 // error bound of x twice, plus 1 if the draw is not negative
}

// beyond is the error bound of a word beyond the table: more than half of any shift, so that round is in doubt.
const beyond = 1<<63 - 1

// locate evaluates a chunk of words. Horner's floors lose less than 1 + degree·2^-guard units of x; c0 is stored with
// half of that added. This loop and the next are two because one would not keep its values in registers.
func (c *curve) locate(p *points, words []byte) {
	table, slack := c.table, c.slack
	n := min(len(words)/8, chunkWords)
	for i := range n {
		a, mask := fold(wordAt(words, i))
		octave := uint(bits.LeadingZeros64(a)) - 1
		if octave >= octaves {
			p.x[i], p.mark[i] = 0, 2*beyond|mask&1
			continue
		}
		a <<= octave + 2 // the leading one leaves
		row := &table[octave*segments+uint(a>>58)]
		t := ^(a << 6)
		s, _ := bits.Mul64(row[7], t)
		s, _ = bits.Mul64(row[6]+s, t)
		s, _ = bits.Mul64(row[5]+s, t)
		s, _ = bits.Mul64(row[4]+s, t)
		s, _ = bits.Mul64(row[3]+s, t)
		s, _ = bits.Mul64(row[2]+s, t)
		s, _ = bits.Mul64(row[1]+s, t)
		p.x[i], p.mark[i] = row[0]+s>>guard, 2*slack[octave]|mask&1
	}
}

// far is locate for one word beyond the table, by the slow path. ok is false if x does not fit, once in 2^49 words.
func (c *curve) far(d *digits) (x, slack uint64, ok bool) {
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
	shift uint   // 1 … 63
	slack uint64 // error of the product in units of 2^-shift, without that of x
}

// times prepares the factor m·2^e for m in [2^63, 2^64) that is known within slack. ok is false if there is none: the
// product would need more than 64 bits.
func (c *curve) times(m uint64, e int, slack uint64) (f factor, ok bool) {
	shift := c.frac - 64 - e
	if shift < 1 || slack > beyond/2 {
		return factor{}, false
	}
	if extra := shift - 63; extra > 0 { // a small scale: its low bits do not matter
		m >>= extra
		shift = 63
	}
	// One unit for the floor of the product, one for the bits of m that may have been dropped (x < 2^64).
	return factor{mant: m, shift: uint(shift), slack: slack + 2}, true
}

// round writes round(±x·s) for the points from the first on, and returns the index after the last one written: the end,
// or a draw that is in doubt.
func (p *points) round(dst []int64, first int, f factor) int {
	half, low := uint64(1)<<(f.shift&63)>>1, uint64(1)<<(f.shift&63)-1
	x, mark := p.x[:len(dst)], p.mark[:len(dst)]
	for i := first; i < len(dst); i++ {
		y, _ := bits.Mul64(x[i], f.mant)
		y += half
		slack := mark[i]>>1 + f.slack
		if rest := y & low; rest < slack || int64(rest) > int64(low)-int64(slack) {
			return i
		}
		sign := int64(mark[i]&1) - 1 // −1 or 0
		dst[i] = int64(y>>(f.shift&63)) ^ sign - sign
	}
	return len(dst)
}
