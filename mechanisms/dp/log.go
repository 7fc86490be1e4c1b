package dp

import (
	"math"
	"math/big"
)

var ln2 = constant("0.69314718055994530941723212145817656807550013436025525412068000949339362196969471560586332699641868754200148102057068573368552023575813")

// LogUp returns ln x for x > 0, at least the true value and at most a few ulp above.
func LogUp(x float64) float64 {
	if math.IsInf(x, 1) {
		return x
	}
	return RoundUp(newFloat().Add(logarithm(exact(x)), exact(0x1p-140)))
}

// logarithm returns ln x for x > 0, within a relative 2⁻¹⁸⁰: x = m·2^k with ⅔ ≤ m < 4⁄3, and k·ln 2 + ln m does not
// cancel.
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

// log1p returns ln(1+x) for x ≥ 0, within a relative 2⁻¹⁸⁰ also where x is tiny.
func log1p(x *big.Float) *big.Float {
	if x.Cmp(exact(1)) > 0 {
		return logarithm(newFloat().Add(exact(1), x))
	}
	return twiceArtanh(newFloat().Quo(x, newFloat().Add(exact(2), x)))
}

// twiceArtanh returns 2·artanh(z) = ln((1+z)/(1−z)) = 2·Σ z^i/i over odd i, for |z| ≤ ⅓.
func twiceArtanh(z *big.Float) *big.Float {
	square, power := newFloat().Mul(z, z), newFloat().Set(z)
	sum := newFloat()
	for i := 1; i < 128; i += 2 { // the rest is below z·3⁻¹²⁸
		sum.Add(sum, newFloat().Quo(power, exact(float64(i))))
		power.Mul(power, square)
	}
	return sum.Add(sum, sum)
}
