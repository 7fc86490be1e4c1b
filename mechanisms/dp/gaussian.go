package dp

import (
	"fmt"
	"math"
	"math/big"
)

// For a ≥ tail, Φ(−a) < 2⁻¹¹⁵⁴ is below the least float64; for a ≤ −tail it is above 1 − 2⁻⁵³. For µ beyond maxMu,
// every relevant a is beyond tail.
const (
	tail  = 40
	maxMu = 1 << 20
)

// GaussianDelta returns δ(ε) of a µ-Gaussian-DP mechanism, rounded up:
//
//	δ = Φ(−ε/µ + µ/2) − e^ε·Φ(−ε/µ − µ/2)              (Balle and Wang 2018, Theorem 8; Dong, Roth and Su, Corollary 2.13)
//
// In the code, a = ε/µ − µ/2 and b = ε/µ + µ/2. Because e^ε·φ(b) = φ(a) for the normal density φ, the second term is
// φ(a)·R(b) with the Mills ratio R(x) = Φ(−x)/φ(x). Nothing overflows and no logarithm is needed, because exponents of
// big.Float have 32 bits.
//
// Rounding: |a| ≤ 40 and ε/µ, µ ≤ 2²¹ here, so at 192 bits a has an absolute error below 2⁻¹⁶⁹, and each term a
// relative error below 2⁻¹⁵⁰ (arguments 2⁻¹⁶³, exponential 2⁻¹⁶⁴, series and fraction 2⁻¹⁵³). 2⁻¹⁴⁰ of both terms is
// added before the result is rounded up, so cancellation cannot make δ too small.
//
// It panics on a negative or NaN argument.
func GaussianDelta(epsilon, mu float64) float64 {
	if !(epsilon >= 0) || !(mu >= 0) {
		panic(fmt.Sprintf("BUG: dp: GaussianDelta of epsilon %g, mu %g: negative or NaN", epsilon, mu))
	}
	if math.IsInf(epsilon, 1) {
		return 0
	}
	return probability(gaussianDelta(exact(epsilon), mu))
}

// gaussianDelta is GaussianDelta before rounding, at any finite ε: the hockey-stick divergence of order e^ε of a pair
// P, Q. A negative ε uses H(e^ε; P‖Q) = 1 − e^ε + e^ε·H(e^−ε; Q‖P), and the symmetry of normal laws in P and Q.
func gaussianDelta(epsilon *big.Float, mu float64) *big.Float {
	if epsilon.Sign() < 0 {
		if epsilon.Cmp(exact(-maxExponent)) < 0 {
			return exact(1)
		}
		e := exponential(epsilon)
		b := newBound()
		b.add(exact(1), newFloat().Neg(e), e.Mul(e, gaussianDelta(newFloat().Neg(epsilon), mu)))
		return b.up()
	}
	switch {
	case mu == 0:
		return newFloat()
	case mu >= maxMu:
		return exact(1)
	}
	ratio := newFloat().Quo(epsilon, exact(mu))
	half := newFloat().Quo(exact(mu), exact(2))
	a := newFloat().Sub(ratio, half)
	switch {
	case a.Cmp(exact(tail)) >= 0:
		return negligible()
	case a.Cmp(exact(-tail)) <= 0:
		return exact(1)
	}
	phi := density(a)
	second := newFloat().Mul(phi, mills(ratio.Add(ratio, half)))
	b := newBound()
	b.add(upperTail(a, phi), second.Neg(second))
	return b.up()
}

// probability returns the least float64 that is at least x, and at most 1.
func probability(x *big.Float) float64 { return math.Min(1, RoundUp(x)) }

// GaussianEpsilon returns the ε that µ-Gaussian-DP proves at δ, rounded up: the least float64 with GaussianDelta(ε, µ)
// ≤ δ, or +Inf if there is none.
func GaussianEpsilon(mu, delta float64) float64 {
	if !(mu >= 0) || !(delta >= 0) {
		panic(fmt.Sprintf("BUG: dp: GaussianEpsilon of mu %g at delta %g: negative or NaN", mu, delta))
	}
	return mixedEpsilon(certain(), mu, delta)
}

// GaussianMu returns the largest float64 µ with GaussianDelta(ε, µ) ≤ δ: noise calibrated to it proves the budget. If δ
// is 0 it returns 0, because Gaussian noise with a finite scale never proves δ = 0.
func GaussianMu(b Budget) float64 {
	if !(b.Delta >= 0 && b.Delta < 1) {
		panic(fmt.Sprintf("BUG: dp: GaussianMu at delta %g: not in [0, 1)", b.Delta))
	}
	mu, _ := border(0, maxMu,
		func(mu float64) bool { return roughDelta(b.Epsilon, mu) <= b.Delta },
		func(mu float64) (bool, float64) {
			delta := GaussianDelta(b.Epsilon, mu)
			return delta <= b.Delta, b.Delta - delta
		})
	return mu
}

// straight is the number of linear interpolations between two points that border tries before it bisects.
const straight = 4

// border returns adjacent float64 x < y in [low, high], 0 ≤ low < high, such that exact holds at x and not at y. The
// caller guarantees that exact holds at low and not at high, and that it changes only once. border does not call exact
// at low and high.
//
// rough is a cheap approximation of exact: the search starts where rough changes, and a wrong start costs only time.
// off is the distance of the point from the change, up to sign and in any unit, or NaN if unknown. Because exact is
// slow, the search evaluates it where a straight line through two values of off is zero. The result depends on neither
// rough nor off.
func border(low, high float64, rough func(float64) bool, exact func(float64) (holds bool, off float64)) (x, y float64) {
	// The bit patterns of nonnegative floats have the same order as the floats.
	a, b := math.Float64bits(low), math.Float64bits(high)
	from, to := a, b
	for to-from > 1 {
		if middle := from + (to-from)/2; rough(math.Float64frombits(middle)) {
			from = middle
		} else {
			to = middle
		}
	}
	offA, offB := math.NaN(), math.NaN()
	ask := func(at uint64) (holds bool) {
		holds, off := exact(math.Float64frombits(at))
		if holds {
			a, offA = at, math.Abs(off)
		} else {
			b, offB = at, math.Abs(off)
		}
		return holds
	}
	for step, at := uint64(8), from; b-a > 1; step *= 8 { // widens the bracket from the guess until exact changes
		if at <= a || at >= b {
			break
		}
		if ask(at) {
			at += step
		} else {
			at -= min(step, at)
		}
	}
	for asked := 0; b-a > 1; asked++ {
		middle := a + (b-a)/2
		if share := offA / (offA + offB); asked < straight && share >= 0 { // false for NaN
			middle = min(max(a+uint64(share*float64(b-a)), a+1), b-1)
		}
		ask(middle)
	}
	return math.Float64frombits(a), math.Float64frombits(b)
}

// roughDelta is gaussianDelta in floating point, without control of rounding or range.
func roughDelta(epsilon, mu float64) float64 {
	if mu == 0 {
		return max(0, -math.Expm1(epsilon))
	}
	a, b := epsilon/mu-mu/2, epsilon/mu+mu/2
	first, second := math.Erfc(a/math.Sqrt2)/2, math.Exp(epsilon)*math.Erfc(b/math.Sqrt2)/2
	if epsilon > 600 { // near overflow, b ≥ √(2ε) > 34: the second term is φ(a)·R(b), R(b) = 1/b − 1/b³ + …
		second = math.Exp(-a*a/2) * (1 - 1/(b*b)) / (b * math.Sqrt(2*math.Pi))
	}
	return first - second
}

// upperTail returns Φ(−x) for |x| ≤ tail and the density φ(x).
func upperTail(x, phi *big.Float) *big.Float {
	if x.Sign() >= 0 {
		return newFloat().Mul(phi, millsAt(x, phi))
	}
	opposite := newFloat().Neg(x)
	lower := newFloat().Mul(phi, millsAt(opposite, phi))
	return lower.Sub(exact(1), lower)
}
