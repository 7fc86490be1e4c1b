package text

import (
	"encoding/binary"
	"math"
	"math/bits"
	"slices"
	"strconv"
)

// AppendFloat appends the shortest decimal that parses to f, and among several the closest to f, in the format of
// encoding/json: with an exponent only below 1e-6 and from 1e21 on, and without a leading zero in the exponent. −0 is
// printed as 0. f must be finite. It overwrites bytes of dst between its length and its capacity.
//
// A decision consists mostly of numbers. Therefore the code has no branches that depend on digits, and all copies have
// a fixed length.
func AppendFloat(dst []byte, f float64) []byte {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		panic("BUG: schemas: a number of a decision is not finite")
	}
	if n := int64(f); float64(n) == f && -1e15 < f && f < 1e15 {
		return strconv.AppendInt(dst, n, 10)
	}
	size := len(dst)
	dst = slices.Grow(dst, longest)
	dst = append(dst, '-')[:size+int(math.Float64bits(f)>>63)]
	f = math.Abs(f)

	number, e := shortestDecimal(f)
	var d digits
	d.set(number)
	point := d.last + e - d.first // digits before the decimal point, counted before trailing zeros are cut
	d.trim()
	switch size := len(dst); {
	case f < 1e-6 || f >= 1e21:
		return d.appendScientific(dst, point)
	case point <= 0:
		to := dst[size : size+longest-1]
		copy(to[:8], "0.000000")
		d.copy(to[2-point:], d.first)
		return dst[:size+2-point+d.last-d.first]
	case point < d.last-d.first:
		to := dst[size : size+longest-1]
		d.copy(to, d.first)
		d.copy(to[point+1:], d.first+point)
		to[point] = '.'
		return dst[:size+1+d.last-d.first]
	default:
		dst = append(dst, d.text[d.first:d.last]...)
		return append(dst, "00000000000000000000"[:point-(d.last-d.first)]...)
	}
}

// longest exceeds the bytes of any number, including the extra bytes that fixed-length copies write after it.
const longest = 56

// digits holds the digits of a number from 1 to 10^17 − 1, text[first:last], followed by zeros.
type digits struct {
	text        [48]byte
	first, last int
	low, high   uint64 // the last eight digits and the eight before them, one digit per byte
}

// set writes the digits of a number.
func (d *digits) set(n uint64) {
	front := n / 1e8
	d.low = octets(uint32(n - front*1e8))
	top := front / 1e8
	d.high = octets(uint32(front - top*1e8))
	d.text[7] = '0' + byte(top)
	binary.LittleEndian.PutUint64(d.text[8:], d.high|zeros)
	binary.LittleEndian.PutUint64(d.text[16:], d.low|zeros)
	d.last = 24
	d.first = 8 + bits.TrailingZeros64(d.high)/8
	if top != 0 {
		d.first = 7
	} else if d.high == 0 {
		d.first = 16 + bits.TrailingZeros64(d.low)/8
	}
}

// trim removes zeros at the end.
func (d *digits) trim() {
	d.last = 24 - bits.LeadingZeros64(d.low)/8
	if d.low == 0 {
		d.last = max(8, 16-bits.LeadingZeros64(d.high)/8)
	}
}

// copy writes 17 bytes: the digits from an index on, and the bytes after them.
func (d *digits) copy(to []byte, from int) {
	*(*[17]byte)(to) = *(*[17]byte)(d.text[from:])
}

// appendScientific appends d.dd…e±x.
func (d *digits) appendScientific(dst []byte, point int) []byte {
	text := d.text[d.first:d.last]
	dst = append(dst, text[0])
	if len(text) > 1 {
		dst = append(append(dst, '.'), text[1:]...)
	}
	dst = append(dst, 'e')
	if point > 0 {
		dst = append(dst, '+')
	}
	return strconv.AppendInt(dst, int64(point-1), 10)
}

const zeros = 0x3030303030303030

// octets returns the eight digits of n < 10^8, one per byte, the first in the lowest byte. It splits n into groups of
// four, two and one digits, and divides all groups of a size at once.
func octets(n uint32) uint64 {
	front := n / 1e4
	v := uint64(front) | uint64(n-front*1e4)<<32
	hundreds := v * 10486 >> 20 & 0x0000007f_0000007f // v/100 in each lane, for v < 10^4
	v = hundreds | (v-hundreds*100)<<16
	tens := v * 103 >> 10 & 0x000f_000f_000f_000f // v/10 in each lane, for v < 100
	return tens | (v-tens*10)<<8
}
