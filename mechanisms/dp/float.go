package dp

import (
	"math"
	"math/big"
)

// Precisions of math/big in bits, here and in the losses of mechanisms.
const (
	// precision is the width of conversions. A float64 result needs 53 bits, the worst cancellation of a useful claim
	// some 60 more, and the margin is 2⁻¹⁴⁰. So 192 bits leave each function 50 bits for rounding errors. 320 bits
	// would take three times as long.
	precision = 192

	// Precision is the width of intervals and of the mechanisms' formulas, whose results Up moves outwards. The worst
	// cancellation in their sums is in 1 − x^A for A up to 2⁶⁴ and 1 − x down to 2⁻³⁰. It loses less than 100 bits, so
	// some 150 bits stay correct.
	Precision = 256
)

// newFloat returns 0 at the precision of conversions.
func newFloat() *big.Float { return new(big.Float).SetPrec(precision) }

// exact returns x without rounding, at the precision of conversions.
func exact(x float64) *big.Float { return newFloat().SetFloat64(x) }

// Float returns 0 with Precision bits.
func Float() *big.Float { return new(big.Float).SetPrec(Precision) }

// Exact returns x without rounding, with Precision bits.
func Exact(x float64) *big.Float { return Float().SetFloat64(x) }

// Dyadic returns mant·2^exp without rounding.
func Dyadic(mant uint64, exp int) *big.Float {
	x := Float().SetUint64(mant)
	return x.SetMantExp(x, exp)
}

// Root returns √x for x ≥ 0, correct to a few units in the last place of x's precision.
func Root(x *big.Float) *big.Float { return new(big.Float).Sqrt(x) }

// Up returns x·(1 + 2^margin) rounded up to a float64, for x ≥ 0: the margin covers the rounding of the operations
// that made x.
func Up(x *big.Float, margin int) float64 {
	slack := new(big.Float).SetMantExp(x, margin)
	return RoundUp(slack.Add(slack, x))
}

// RoundUp returns the smallest float64 that is at least x. It is for stated upper bounds.
func RoundUp(x *big.Float) float64 {
	f, accuracy := x.Float64()
	if accuracy == big.Below {
		f = math.Nextafter(f, math.Inf(1))
	}
	return f
}

var ln2 = constant("0.69314718055994530941723212145817656807550013436025525412068000949339362196969471560586332699641868754200148102057068573368552023575813")

// constant returns the number with these decimal digits, at the precision of conversions.
func constant(digits string) *big.Float {
	x, _, err := big.ParseFloat(digits, 10, precision, big.ToNearestEven)
	if err != nil {
		panic("BUG: dp: constant does not parse")
	}
	return x
}

// LogUp returns ln x for x > 0: at least the exact value, and at most a few ulp above it.
func LogUp(x float64) float64 {
	if math.IsInf(x, 1) {
		return x
	}
	return RoundUp(newFloat().Add(logarithm(exact(x)), exact(0x1p-140)))
}

// logarithm returns ln x for x > 0, within a relative 2⁻¹⁸⁰. It writes x = m·2^k with ⅔ ≤ m < 4⁄3, so that k·ln 2 + ln
// m does not cancel.
func logarithm(x *big.Float) *big.Float {
	m := newFloat()
	k := x.MantExp(m)
	if m.Cmp(exact(2.0/3)) < 0 {
		m.SetMantExp(m, 1)
		k--
	}
	z := newFloat().Quo(newFloat().Sub(m, exact(1)), newFloat().Add(m, exact(1)))
	return z.Add(twiceArtanh(z), newFloat().Mul(exact(float64(k)), ln2))
}

// log1p returns ln(1+x) for x ≥ 0, within a relative 2⁻¹⁸⁰ even for tiny x.
func log1p(x *big.Float) *big.Float {
	if x.Cmp(exact(1)) > 0 {
		return logarithm(newFloat().Add(exact(1), x))
	}
	return twiceArtanh(newFloat().Quo(x, newFloat().Add(exact(2), x)))
}

// twiceArtanh returns 2·artanh(z) = ln((1+z)/(1−z)) = 2·Σ z^i/i over odd i, for |z| ≤ ⅓.
func twiceArtanh(z *big.Float) *big.Float {
	square := toFixed(newFloat().Mul(z, z), 256)
	var sum fixed
	for i := uint64(127); ; i -= 2 { // the terms after these are below z·3⁻¹²⁸
		part := fixedOne()
		part.divide(i)
		if sum = part.plus(&sum, false); i == 1 {
			break
		}
		sum.scale(&square)
	}
	product := sum.float()
	product.Mul(product, z)
	return product.Add(product, product)
}
