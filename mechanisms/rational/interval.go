package rational

import (
	"math/big"

	"oriel/mechanisms/dp"
)

// Interval is a set Lo ≤ x ≤ Hi of reals. Every operation returns an interval that contains each result for numbers in
// its arguments: low ends round towards −∞, high ends towards +∞. Callers must not modify the ends of an Interval.
type Interval struct {
	Lo, Hi *big.Float
}

// Down returns 0 as a big.Float whose operations round towards −∞.
func Down() *big.Float { return dp.Float().SetMode(big.ToNegativeInf) }

// Up returns 0 as a big.Float whose operations round towards +∞.
func Up() *big.Float { return dp.Float().SetMode(big.ToPositiveInf) }

// Whole returns the interval of a single integer.
func Whole(x uint64) Interval { return Interval{Down().SetUint64(x), Up().SetUint64(x)} }

// Distance returns an interval around √square, of width 0 if the root is an integer.
func Distance(square *big.Int) Interval {
	root := new(big.Int).Sqrt(square)
	if new(big.Int).Mul(root, root).Cmp(square) == 0 {
		return Interval{Down().SetInt(root), Up().SetInt(root)}
	}
	return Interval{Down().SetInt(square), Up().SetInt(square)}.Root()
}

// Ratio returns the interval of a rational number.
func Ratio(x *big.Rat) Interval { return Interval{Down().SetRat(x), Up().SetRat(x)} }

// Dyadic returns the interval of the single number x·2^exp.
func Dyadic(x int64, exp int) Interval {
	lo, hi := Down().SetInt64(x), Up().SetInt64(x)
	return Interval{lo.SetMantExp(lo, exp), hi.SetMantExp(hi, exp)}
}

// Sign returns the common sign of all numbers in x, or 0 if x contains zero.
func (x Interval) Sign() int {
	if x.Lo.Sign() != x.Hi.Sign() {
		return 0
	}
	return x.Lo.Sign()
}

// Add returns x + y.
func (x Interval) Add(y Interval) Interval {
	return Interval{Down().Add(x.Lo, y.Lo), Up().Add(x.Hi, y.Hi)}
}

// Sub returns x − y.
func (x Interval) Sub(y Interval) Interval {
	return Interval{Down().Sub(x.Lo, y.Hi), Up().Sub(x.Hi, y.Lo)}
}

// Mul returns x·y. Each end of a product is the product of two ends, and signs tell which two, unless both intervals
// contain numbers of both signs.
func (x Interval) Mul(y Interval) Interval {
	switch {
	case x.Lo.Sign() >= 0 && y.Lo.Sign() >= 0:
		return Interval{Down().Mul(x.Lo, y.Lo), Up().Mul(x.Hi, y.Hi)}
	case x.Hi.Sign() <= 0 && y.Hi.Sign() <= 0:
		return Interval{Down().Mul(x.Hi, y.Hi), Up().Mul(x.Lo, y.Lo)}
	case x.Lo.Sign() >= 0 && y.Hi.Sign() <= 0:
		return Interval{Down().Mul(x.Hi, y.Lo), Up().Mul(x.Lo, y.Hi)}
	case x.Hi.Sign() <= 0 && y.Lo.Sign() >= 0:
		return Interval{Down().Mul(x.Lo, y.Hi), Up().Mul(x.Hi, y.Lo)}
	}
	var z Interval
	for _, a := range []*big.Float{x.Lo, x.Hi} {
		for _, b := range []*big.Float{y.Lo, y.Hi} {
			if lo := Down().Mul(a, b); z.Lo == nil || lo.Cmp(z.Lo) < 0 {
				z.Lo = lo
			}
			if hi := Up().Mul(a, b); z.Hi == nil || hi.Cmp(z.Hi) > 0 {
				z.Hi = hi
			}
		}
	}
	return z
}

// Inverse returns 1/x for an interval without zero.
func (x Interval) Inverse() Interval {
	if x.Lo.Sign() <= 0 && x.Hi.Sign() >= 0 {
		panic("BUG: rational: interval divides by zero")
	}
	one := big.NewFloat(1)
	return Interval{Down().Quo(one, x.Hi), Up().Quo(one, x.Lo)}
}

// one reports whether x is the single number 1.
func (x Interval) one() bool {
	one := big.NewFloat(1)
	return x.Lo.Cmp(one) == 0 && x.Hi.Cmp(one) == 0
}

// tiny ends powers: smaller results are only known to be below 2^tiny. With exponents of thousands of millions
// big.Float would have to align as many bits.
const tiny = -1024

// Power returns x^k for 0 ≤ x ≤ 1.
func (x Interval) Power(k uint64) Interval {
	z := Whole(1)
	for ; k > 1; k >>= 1 {
		if k&1 == 1 {
			z = z.Mul(x).floored()
		}
		x = x.Mul(x).floored()
	}
	if k == 1 {
		z = z.Mul(x).floored()
	}
	return z
}

// floored returns [0, 2^tiny] for an interval within it.
func (x Interval) floored() Interval {
	if x.Hi.MantExp(nil) > tiny {
		return x
	}
	return Interval{Down(), Up().SetMantExp(big.NewFloat(1), tiny)}
}

// rootMargin moves the ends of a square root outwards: big.Float.Sqrt is good to a few units, but does not promise its
// rounding.
const rootMargin = 16 - dp.Precision

// Root returns √x for a number that is not negative; x may extend below 0 by the rounding of its ends.
func (x Interval) Root() Interval {
	lo, hi := Down(), Up().Sqrt(x.Hi)
	if x.Lo.Sign() > 0 {
		lo.Sqrt(x.Lo)
	}
	return Interval{
		Down().Sub(lo, Down().SetMantExp(lo, rootMargin)),
		Up().Add(hi, Up().SetMantExp(hi, rootMargin)),
	}
}
