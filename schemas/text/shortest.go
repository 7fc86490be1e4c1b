package text

import (
	"math"
	"math/big"
	"math/bits"
)

// shortestDecimal returns digits and e with digits·10^e the shortest decimal that rounds to f > 0, the closest to f if
// there are several. digits may end in zeros.
//
// This is Schubfach (R. Giulietti, "The Schubfach way to render doubles", 2021, §9). With f = c·2^q, the numbers that
// round to f lie between (4c−2)·2^(q−2) (at a power of two: (4c−1)·2^(q−2)) and (4c+2)·2^(q−2), with both ends if c is
// even. Let 10^k be the largest power of ten not above the width of this interval. Then s·10^k or (s+1)·10^k with s =
// ⌊f/10^k⌋ is in the interval, and at most one multiple of 10^(k+1). Ends and middle are multiplied by 4 and rounded to
// odd, so that comparisons with them are exact.
func shortestDecimal(f float64) (digits uint64, e int) {
	b := math.Float64bits(f)
	c := b & (1<<52 - 1)
	q := int(b>>52) - 1075
	if c == 0 || q == -1075 {
		return shortestAtEnds(f)
	}
	k := q * 1262611 >> 22                    // ⌊log10(2^q)⌋
	shift := uint(q+(-k*1741647)>>19+1) & 63  // ⌊log2(10^-k)⌋
	g := &powersOfTen128[-k-minPowerOfTen128] // 10^-k, rounded up to 128 bits
	lower, middle, upper := around(g, c|1<<52, shift)

	// The right candidate is unpredictable, so the code has no branches. The closer one of s and s+1 is in the
	// interval, because the interval extends equally far below and above f.
	s := middle / 4
	tens := s / 10
	digits = s
	if middle+s&1 > 4*s+2 { // above half, or exactly half with odd s
		digits = s + 1
	}
	var below, above uint64
	if lower <= 40*tens {
		below = 1
	}
	if 40*tens+40 <= upper {
		above = 1
	}
	if below != above {
		digits = (tens + above) * 10
	}
	return digits, k
}

// around returns roundToOdd(g, (4c−2)<<shift) + c&1, roundToOdd(g, 4c<<shift) and roundToOdd(g, (4c+2)<<shift) − c&1,
// computing the first and the last from their distance to the second.
func around(g *[2]uint64, c uint64, shift uint) (lower, middle, upper uint64) {
	high, mid := bits.Mul64(g[0], 4*c<<shift)
	carried, low := bits.Mul64(g[1], 4*c<<shift)
	mid, carry := bits.Add64(mid, carried, 0)
	high += carry
	half2, half1, half0 := g[0]>>(63-shift), g[0]<<(shift+1)|g[1]>>(63-shift), g[1]<<(shift+1)

	_, carry = bits.Sub64(low, half0, 0)
	lowerMid, carry := bits.Sub64(mid, half1, carry)
	lower, _ = bits.Sub64(high, half2, carry)
	_, carry = bits.Add64(low, half0, 0)
	upperMid, carry := bits.Add64(mid, half1, carry)
	upper, _ = bits.Add64(high, half2, carry)
	return odd(lower, lowerMid) + c&1, odd(high, mid), odd(upper, upperMid) - c&1
}

// shortestAtEnds is shortestDecimal for any number; it tries one candidate at a time. It is used for powers of two,
// whose interval is shorter below, and for subnormal numbers.
func shortestAtEnds(f float64) (digits uint64, e int) {
	b := math.Float64bits(f)
	c := b & (1<<52 - 1)
	q := int(b>>52) - 1075
	closer := 0
	if q > -1075 {
		if c == 0 && q > -1074 {
			closer = 1
		}
		c |= 1 << 52
	} else {
		q = -1074
	}
	k := (q*1262611 - closer*524031) >> 22  // ⌊log10(2^q)⌋, or ⌊log10(¾·2^q)⌋ if the lower neighbour is closer
	shift := uint(q + (-k*1741647)>>19 + 1) // ⌊log2(10^-k)⌋
	g := &powersOfTen128[-k-minPowerOfTen128]
	lower := roundToOdd(g, (4*c-2+uint64(closer))<<shift) + c&1
	middle := roundToOdd(g, 4*c<<shift)
	upper := roundToOdd(g, (4*c+2)<<shift) - c&1

	s := middle / 4
	if s >= 10 {
		tens := s / 10
		below, above := lower <= 40*tens, 40*tens+40 <= upper
		if below != above {
			if above {
				tens++
			}
			return tens, k + 1
		}
	}
	below, above := lower <= 4*s, 4*s+4 <= upper
	if below != above {
		if above {
			s++
		}
		return s, k
	}
	if half := 4*s + 2; middle > half || middle == half && s&1 == 1 {
		s++
	}
	return s, k
}

// roundToOdd returns ⌊g·c / 2^128⌋ with its lowest bit set if the product has a fraction.
func roundToOdd(g *[2]uint64, c uint64) uint64 {
	x, _ := bits.Mul64(g[1], c)
	high, low := bits.Mul64(g[0], c)
	low, carry := bits.Add64(low, x, 0)
	return odd(high+carry, low)
}

// odd sets the lowest bit of high if the lower words are a nonzero fraction. Because g is rounded up, low may be 1 for
// a product without a fraction.
func odd(high, low uint64) uint64 {
	var sticky uint64
	if low > 1 {
		sticky = 1
	}
	return high | sticky
}

const (
	minPowerOfTen128 = -292 // −k for the largest float64
	maxPowerOfTen128 = 324  // −k for the smallest
)

// powersOfTen128 holds 10^n·2^m, rounded up, for the m that brings it to [2^127, 2^128): high word, low word.
var powersOfTen128 = func() (table [maxPowerOfTen128 - minPowerOfTen128 + 1][2]uint64) {
	mask := new(big.Int).SetUint64(math.MaxUint64)
	ten, power := big.NewInt(10), big.NewInt(1)
	set := func(n int, ceiling *big.Int) {
		table[n-minPowerOfTen128][0] = new(big.Int).Rsh(ceiling, 64).Uint64()
		table[n-minPowerOfTen128][1] = new(big.Int).And(ceiling, mask).Uint64()
	}
	for n := 0; n <= maxPowerOfTen128; n++ {
		// ⌈x / 2^m⌉ is −⌊−x / 2^m⌋, and Rsh rounds down.
		length := power.BitLen()
		scaled := new(big.Int).Neg(power)
		if length <= 128 {
			scaled.Lsh(scaled, uint(128-length))
		} else {
			scaled.Rsh(scaled, uint(length-128))
		}
		set(n, scaled.Neg(scaled))
		if n > 0 && -n >= minPowerOfTen128 {
			// 10^-n·2^(length+127) lies in (2^127, 2^128).
			quotient := new(big.Int).Lsh(big.NewInt(1), uint(length+127))
			quotient.Sub(quotient.Add(quotient, power), big.NewInt(1))
			set(-n, quotient.Div(quotient, power))
		}
		power = new(big.Int).Mul(power, ten)
	}
	return table
}()
