package dp

import (
	"math"
	"math/big"
)

// Bits of math/big here, and in the losses of mechanisms.
const (
	// precision is the width of conversions. A float64 result needs 53, the worst cancellation of a useful claim some
	// 60 more, and the margin sits at 140: 192 leaves each function 50 bits of rounding to spend. A third of the time
	// of 320 bits.
	precision = 192

	// Precision is the width of the formulas of mechanisms, which Up moves outwards, and of intervals. The worst loss
	// of a sum there is that of 1 − x^A for A up to 2⁶⁴ and 1 − x down to 2⁻³⁰: below 2¹⁰⁰ units, so some 150 bits
	// stay.
	Precision = 256
)

// newFloat returns a number of a conversion.
func newFloat() *big.Float { return new(big.Float).SetPrec(precision) }

// exact returns x without rounding, as a number of a conversion.
func exact(x float64) *big.Float { return newFloat().SetFloat64(x) }

// Float returns 0 as a number of Precision bits.
func Float() *big.Float { return new(big.Float).SetPrec(Precision) }

// Exact returns x without rounding, as a number of Precision bits.
func Exact(x float64) *big.Float { return Float().SetFloat64(x) }

// Dyadic returns mant·2^exp without rounding.
func Dyadic(mant uint64, exp int) *big.Float {
	x := Float().SetUint64(mant)
	return x.SetMantExp(x, exp)
}

// Root returns √x for x ≥ 0, good to a few units of x's precision.
func Root(x *big.Float) *big.Float { return new(big.Float).Sqrt(x) }

// Up returns x·(1 + 2^margin) rounded up to a float64, for x ≥ 0: the margin covers the rounding of the operations
// that made x.
func Up(x *big.Float, margin int) float64 {
	slack := new(big.Float).SetMantExp(x, margin)
	return RoundUp(slack.Add(slack, x))
}

// RoundUp returns the least float64 that is at least x, for figures that are stated upper bounds.
func RoundUp(x *big.Float) float64 {
	f, accuracy := x.Float64()
	if accuracy == big.Below {
		f = math.Nextafter(f, math.Inf(1))
	}
	return f
}
