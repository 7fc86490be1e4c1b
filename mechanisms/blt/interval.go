package blt

import "math/big"

// precision of interval ends, bits. The worst loss of a sum here is that of 1 − x^A for A up to 2⁶⁴ and 1 − x down to 2⁻³⁰: below 2¹⁰⁰
// units, so some 150 bits stay.
const precision = 256

// interval is a set lo ≤ x ≤ hi of reals. Every operation returns an interval that holds each result of numbers in its arguments: low
// ends round towards −∞, high ends towards +∞. Intervals are values; their ends are never written to.
type interval struct {
	lo, hi *big.Float
}

func down() *big.Float { return new(big.Float).SetPrec(precision).SetMode(big.ToNegativeInf) }
func up() *big.Float   { return new(big.Float).SetPrec(precision).SetMode(big.ToPositiveInf) }

// whole returns the interval of one integer.
func whole(x uint64) interval { return interval{down().SetUint64(x), up().SetUint64(x)} }

// dyadic returns the interval of x·2^exp alone.
func dyadic(x int64, exp int) interval {
	lo, hi := down().SetInt64(x), up().SetInt64(x)
	return interval{lo.SetMantExp(lo, exp), hi.SetMantExp(hi, exp)}
}

// sign returns the sign of every number of x, or 0 when x holds zero.
func (x interval) sign() int {
	if x.lo.Sign() != x.hi.Sign() {
		return 0
	}
	return x.lo.Sign()
}

func (x interval) add(y interval) interval {
	return interval{down().Add(x.lo, y.lo), up().Add(x.hi, y.hi)}
}

func (x interval) sub(y interval) interval {
	return interval{down().Sub(x.lo, y.hi), up().Sub(x.hi, y.lo)}
}

func (x interval) mul(y interval) interval {
	if x.lo.Sign() >= 0 && y.lo.Sign() >= 0 {
		return interval{down().Mul(x.lo, y.lo), up().Mul(x.hi, y.hi)}
	}
	var z interval
	for _, a := range []*big.Float{x.lo, x.hi} {
		for _, b := range []*big.Float{y.lo, y.hi} {
			if lo := down().Mul(a, b); z.lo == nil || lo.Cmp(z.lo) < 0 {
				z.lo = lo
			}
			if hi := up().Mul(a, b); z.hi == nil || hi.Cmp(z.hi) > 0 {
				z.hi = hi
			}
		}
	}
	return z
}

// inverse returns 1/x of an interval without zero.
func (x interval) inverse() interval {
	if x.lo.Sign() <= 0 && x.hi.Sign() >= 0 {
		panic("BUG: blt: interval divides by zero")
	}
	one := big.NewFloat(1)
	return interval{down().Quo(one, x.hi), up().Quo(one, x.lo)}
}

// tiny ends powers: what is below is only known to be so. Exponents of thousands of millions would make big.Float align as many bits.
const tiny = -1024

// power returns x^k for 0 ≤ x ≤ 1.
func (x interval) power(k uint64) interval {
	z := whole(1)
	for ; k > 0; k >>= 1 {
		if k&1 == 1 {
			z = z.mul(x).floored()
		}
		x = x.mul(x).floored()
	}
	return z
}

// floored returns [0, 2^tiny] for an interval within it.
func (x interval) floored() interval {
	if x.hi.MantExp(nil) > tiny {
		return x
	}
	return interval{down(), up().SetMantExp(big.NewFloat(1), tiny)}
}

// rootMargin moves the ends of a square root outwards: big.Float.Sqrt is good to a few units, but does not promise its rounding.
const rootMargin = 16 - precision

// root returns √x for x ≥ 0.
func (x interval) root() interval {
	lo, hi := down().Sqrt(x.lo), up().Sqrt(x.hi)
	return interval{
		down().Sub(lo, down().SetMantExp(lo, rootMargin)),
		up().Add(hi, up().SetMantExp(hi, rootMargin)),
	}
}
