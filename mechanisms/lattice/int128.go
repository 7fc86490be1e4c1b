package lattice

import (
	"encoding/binary"
	"math"
	"math/bits"
)

// Int128 is a two's complement integer of two 64-bit words, Hi·2⁶⁴ + Lo. After 16 days at 10⁵ events a second a sum of
// contributions needs more than 64 bits. It never needs more than 120: fewer than 2⁹⁴ records in 2³¹ partitions, Λ <
// 2²⁵, and noise below 2⁷⁰ in a tree, 2⁸⁸ in a carry.
type Int128 struct {
	Hi int64
	Lo uint64
}

// Int128Len is the length of an encoded Int128.
const Int128Len = 16

// Add returns x + y modulo 2¹²⁸.
func (x Int128) Add(y Int128) Int128 {
	lo, carry := bits.Add64(x.Lo, y.Lo, 0)
	return Int128{Hi: x.Hi + y.Hi + int64(carry), Lo: lo}
}

// AddInt64 returns x + y modulo 2¹²⁸.
func (x Int128) AddInt64(y int64) Int128 {
	lo, carry := bits.Add64(x.Lo, uint64(y), 0)
	return Int128{Hi: x.Hi + y>>63 + int64(carry), Lo: lo}
}

// SubInt64 returns x − y modulo 2¹²⁸, also for the least int64, which has no negative.
func (x Int128) SubInt64(y int64) Int128 {
	lo, borrow := bits.Sub64(x.Lo, uint64(y), 0)
	return Int128{Hi: x.Hi - y>>63 - int64(borrow), Lo: lo}
}

// Less reports whether x < y.
func (x Int128) Less(y Int128) bool { return x.Hi < y.Hi || x.Hi == y.Hi && x.Lo < y.Lo }

// Square returns x², exactly, for |x| < 2⁶³.
func Square(x int64) Int128 {
	magnitude := uint64(x)
	if x < 0 {
		magnitude = -magnitude
	}
	high, low := bits.Mul64(magnitude, magnitude)
	return Int128{Hi: int64(high), Lo: low}
}

// SquaredLength returns Σnᵢ², exactly if it is below 2¹²⁷, for example for up to 2⁴¹ coordinates below 2⁴³.
func SquaredLength(n []int64) (sum Int128) {
	for _, x := range n {
		sum = sum.Add(Square(x))
	}
	return sum
}

// AppendBinary appends the 16 bytes of x, little-endian.
func (x Int128) AppendBinary(dst []byte) []byte {
	return binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(dst, x.Lo), uint64(x.Hi))
}

// ParseInt128 reads the first 16 bytes of b, which must have at least 16.
func ParseInt128(b []byte) Int128 {
	return Int128{Lo: binary.LittleEndian.Uint64(b), Hi: int64(binary.LittleEndian.Uint64(b[8:]))}
}

// Float64 returns q·x rounded once, to nearest, ties to even. It is the project's only conversion of a released integer
// to a float64.
func (g Grid) Float64(x Int128) float64 {
	if x.Hi == int64(x.Lo)>>63 {
		// If x fits 64 bits, the conversion to float64 rounds, and the scaling is exact because the result is normal.
		return float64(float64(int64(x.Lo)) * math.Float64frombits(uint64(g.Exp+bias)<<fractionBits))
	}
	return g.wide(x)
}

// wide is Float64 in integer arithmetic, for any x except 0.
func (g Grid) wide(x Int128) float64 {
	hi, lo, sign := uint64(x.Hi), x.Lo, uint64(0)
	if x.Hi < 0 {
		var borrow uint64
		lo, borrow = bits.Sub64(0, lo, 0)
		hi, _ = bits.Sub64(0, hi, borrow)
		sign = signBit
	}
	// Move the leading bit to bit 63 of hi. The bits lost at the right end of 128 bits are zero.
	length := bits.Len64(hi) + 64
	if hi == 0 {
		length = bits.Len64(lo)
	}
	if shift := uint(128 - length); shift >= 64 {
		hi, lo = lo<<(shift-64), 0
	} else {
		hi, lo = hi<<shift|lo>>(64-shift), lo<<shift
	}
	// Keep 53 bits and round by comparing the rest with half a unit in the last place.
	const dropped = 63 - fractionBits
	significand, rest := hi>>dropped, hi&(1<<dropped-1)
	const half = 1 << (dropped - 1)
	if rest > half || rest == half && (lo != 0 || significand&1 == 1) {
		significand++ // a carry to 2⁵³ moves correctly into the exponent below
	}
	exponent := uint64(length - 1 + g.Exp + bias)
	return math.Float64frombits(sign | (exponent<<fractionBits + significand - 1<<fractionBits))
}
