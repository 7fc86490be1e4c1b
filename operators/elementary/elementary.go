package elementary

import (
	"math"
)

const (
	log2e = 0x1.71547652b82fep+0 // 1/ln 2, rounded to nearest

	// ln 2 = ln2Hi + ln2Lo with an error below 2^-90. ln2Hi has 33 significant bits, so k·ln2Hi is exact for |k| <
	// 2^20.
	ln2Hi = 0x1.62e42fefp-1
	ln2Lo = 0x1.473de6af278edp-34

	sqrt2 = 0x1.6a09e667f3bcdp+0

	expMax = 0x1.62e42fefa39efp+9  // largest x for which e^x is finite
	expMin = -0x1.74910d52d3052p+9 // for a smaller x, e^x rounds to 0
)

// expTerms holds 1/k! for k = 13 … 2, in descending order of k.
var expTerms = [12]float64{
	1.0 / 6227020800, 1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800, 1.0 / 362880, 1.0 / 40320,
	1.0 / 5040, 1.0 / 720, 1.0 / 120, 1.0 / 24, 1.0 / 6, 1.0 / 2,
}

// Exp returns e^x: 0 below the smallest subnormal, +Inf beyond the largest float, and NaN for NaN.
//
// With k = round(x/ln 2) and r = x − k·ln 2, |r| ≤ ½ ln 2, e^x = 2^k·(1 + r + r²(1/2! + r/3! + …)). r is kept as a
// difference hi − lo of two floats.
func Exp(x float64) float64 {
	switch {
	case x != x:
		return x
	case x > expMax:
		return math.Inf(1)
	case x < expMin:
		return 0
	}
	k := math.Floor(float64(x*log2e) + 0.5)
	hi := x - float64(k*ln2Hi)
	lo := float64(k * ln2Lo)
	r := hi - lo
	p := 0.0
	for _, c := range expTerms {
		p = float64(p*r) + c
	}
	tail := float64(float64(r*r)*p) + ((hi - r) - lo)
	return scale(1+(r+tail), int(k))
}

// scale returns y·2^k for y in [½, 2], rounded once. Only the last product, by a power of two, can round, and only for
// a subnormal result.
func scale(y float64, k int) float64 {
	switch {
	case k > 1023:
		return float64(y * 2 * power2(k-1))
	case k < -1021:
		return float64(y * power2(k+64) * 0x1p-64)
	}
	return float64(y * power2(k))
}

// power2 returns 2^k for −1022 ≤ k ≤ 1023.
func power2(k int) float64 { return math.Float64frombits(uint64(k+1023) << 52) }

// logTerms holds 2/(2j+1) for j = 12 … 1, in descending order of j.
var logTerms = [12]float64{
	2.0 / 25, 2.0 / 23, 2.0 / 21, 2.0 / 19, 2.0 / 17, 2.0 / 15, 2.0 / 13, 2.0 / 11, 2.0 / 9, 2.0 / 7, 2.0 / 5, 2.0 / 3,
}

// logFactor returns k·ln 2 + log(1+f) for −0.3 ≤ f ≤ 0.5 and |k| < 2^11.
//
// With s = f/(2+f) and z = s², log(1+f) = 2s + s·R with R = 2z/3 + 2z²/5 + …, and 2s = f − f²/2 + s·f²/2. The first
// term f is exact, and every rounded term is at most a quarter of f.
func logFactor(k, f float64) float64 {
	s := f / (2 + f)
	z := float64(s * s)
	r := 0.0
	for _, c := range logTerms {
		r = float64(r*z) + c
	}
	half := float64(float64(0.5*f) * f)
	small := half - (float64(s*(half+float64(r*z))) + float64(k*ln2Lo))
	return float64(k*ln2Hi) - (small - f)
}

// Log returns the natural logarithm of a positive finite x.
func Log(x float64) float64 {
	k := 0.0
	if x < 0x1p-1022 {
		x = float64(x * 0x1p54)
		k = -54
	}
	bits := math.Float64bits(x)
	k += float64(int(bits>>52) - 1023)
	m := math.Float64frombits(bits&(1<<52-1) | 1023<<52) // m is in [1, 2)
	if m > sqrt2 {
		m /= 2
		k++
	}
	return logFactor(k, m-1)
}

// Log1p returns log(1+x) for 0 ≤ x ≤ 1. For x > ½ it uses 1+x = 2(1+f) with f = (x−1)/2, which is exact.
func Log1p(x float64) float64 {
	if x < 0.5 {
		return logFactor(0, x)
	}
	return logFactor(1, (x-1)/2)
}

// RootTwoPi is √(2π).
const RootTwoPi = 2.50662827463100050241576528481104525

const (
	// Up to seriesEnd the code uses a series with at most seriesTerms terms, and beyond it a continued fraction with
	// the given number of quotients.
	seriesEnd   = 3
	seriesTerms = 64
	quotients   = 64
)

// LogMixture returns ln(2Φ(x)) + x²/2, where Φ is the standard normal distribution function. It is finite for every
// finite x.
func LogMixture(x float64) float64 {
	if x < -seriesEnd {
		return Log(float64(2 / RootTwoPi * mills(-x)))
	}
	return Log(1+twiceOdd(x)) + float64(float64(x*x)/2)
}

// twiceOdd returns 2Φ(x) − 1 for x ≥ −3: 2φ(x)·Σ_k x^{2k+1}/(1·3·…·(2k+1)) (Abramowitz and Stegun, Handbook of
// Mathematical Functions, 26.2.11).
func twiceOdd(x float64) float64 {
	density := float64(2 / RootTwoPi * Exp(-float64(x*x)/2))
	if x > seriesEnd {
		return 1 - float64(density*mills(x))
	}
	sum, term, square := 0.0, x, float64(x*x)
	for k := 3.0; k < 2*seriesTerms; k += 2 {
		sum += term
		term = term * square / k
	}
	return float64(density * sum)
}

// mills returns (1 − Φ(x))/φ(x) for x ≥ 3: 1/(x + 1/(x + 2/(x + 3/(x + …)))) (Abramowitz and Stegun, 26.2.14).
func mills(x float64) float64 {
	tail := x
	for k := float64(quotients); k >= 1; k-- {
		tail = x + k/tail
	}
	return 1 / tail
}

// Normal returns Φ(x).
func Normal(x float64) float64 {
	if x < -seriesEnd {
		return float64(Exp(-float64(x*x)/2) / RootTwoPi * mills(-x))
	}
	return (1 + twiceOdd(x)) / 2
}

// Quantile returns Φ⁻¹(p) for 0 < p < 1, by bisection.
func Quantile(p float64) float64 {
	low, high := -9.0, 9.0
	for range 64 {
		if middle := (low + high) / 2; Normal(middle) < p {
			low = middle
		} else {
			high = middle
		}
	}
	return (low + high) / 2
}
