package interval

import (
	"math"

	"oriel/operators/elementary"
)

// DiscreteDeviation returns the standard deviation 1/(√2·sinh(r/2)) of a discrete Laplace law, P(n) ∝ e^(−r|n|), whose
// r is the quotient of √2 and the deviation of the continuous law. sinh is summed here, because decisions must have the
// same bytes on every machine. The deviation is never below that of r = 40.
func DiscreteDeviation(continuous float64) float64 {
	x := float64(min(math.Sqrt2/continuous, 40) / 2)
	sum, term := x, x
	for k := 2.0; term > float64(sum*0x1p-60); k += 2 {
		term = float64(float64(term*x)*x) / float64(k*float64(k+1))
		sum += term
	}
	return 1 / float64(math.Sqrt2*sum)
}

// ContinuousDeviation returns the deviation of the continuous law whose DiscreteDeviation this is.
func ContinuousDeviation(discrete float64) float64 { return math.Sqrt2 / rate(discrete) }

// rate returns the r of a deviation, 2·asinh(x) with x = 1/(√2·deviation). asinh(x) is ln(x + √(1+x²)), and for small x
// the same logarithm of 1 + (x + x²/(1 + √(1+x²))) without cancellation.
func rate(deviation float64) float64 {
	x := 1 / float64(math.Sqrt2*deviation)
	square := float64(x * x)
	root := math.Sqrt(1 + square)
	if x < 0.5 {
		return float64(2 * elementary.Log1p(x+square/(1+root)))
	}
	return float64(2 * elementary.Log(x+root))
}

// Discrete returns the shortest interval of whole numbers around a release y = x + n that contains x with probability
// at least 95 %. The noise n has the discrete Laplace law of the deviation. The interval is [y − k, y + k] or
// [y − k − 1, y + k]. With q = e^(−r) these miss x with the probabilities 2q^(k+1)/(1+q) and q^(k+1). For r = 1 it is
// [y − 3, y + 2], which covers 95.02 %.
func Discrete(y, deviation float64) Interval {
	r := rate(deviation)
	least := func(miss float64) float64 { return max(math.Ceil(-elementary.Log(miss)/r-1e-9)-1, 0) }
	even, odd := least(float64(0.025*(1+elementary.Exp(-r)))), least(0.05)
	if even <= odd {
		return Interval{y - even, y + even}
	}
	return Interval{y - odd - 1, y + odd}
}

// LaplaceSum returns t with P(|unit·N + X| > t) = 5 %, for independent N and X. N has a discrete Laplace law of the
// given deviation, or the continuous one if whole is false. X has a density ∝ e^(−|x|/scale). For whole numbers it sums
// over N. With a for the scale of unit·N and b for that of X, the continuous law has
//
//	P(|unit·N + X| > t) = (a²e^(−t/a) − b²e^(−t/b))/(a² − b²),   and (1 + t/2a)·e^(−t/a) for a = b.
func LaplaceSum(unit, deviation, scale float64, whole bool) float64 {
	a := float64(math.Abs(unit)*deviation) / math.Sqrt2
	r := rate(deviation)
	if whole = whole && r >= finest; whole {
		a = math.Abs(unit) / r
	}
	beyond := func(t float64) float64 {
		switch {
		case whole:
			return beyondWhole(math.Abs(unit), r, scale, t)
		case math.Abs(a-scale) < float64(1e-6*scale):
			return float64((1 + t/float64(2*a)) * elementary.Exp(-t/a))
		}
		aa, bb := float64(a*a), float64(scale*scale)
		ofA := float64(aa * elementary.Exp(-t/max(a, math.SmallestNonzeroFloat64)))
		return (ofA - float64(bb*elementary.Exp(-t/scale))) / (aa - bb)
	}
	low, high := 0.0, float64(10*(a+scale))
	for range 60 {
		if t := (low + high) / 2; beyond(t) > 0.05 {
			low = t
		} else {
			high = t
		}
	}
	return high
}

// finest is the r below which a discrete law is taken for the continuous one of the same deviation.
const finest = 0.1

// beyondWhole returns P(|unit·N + X| > t) for P(N = n) ∝ e^(−r|n|) and density e^(−|x|/scale)/(2·scale) of X.
func beyondWhole(unit, r, scale, t float64) float64 {
	q := elementary.Exp(-r)
	right := func(x float64) float64 { // P(X > x)
		if x < 0 {
			return 1 - elementary.Exp(x/scale)/2
		}
		return elementary.Exp(-x/scale) / 2
	}
	sum, share := 0.0, (1-q)/(1+q)
	for n := 0; share > 1e-12; n++ {
		x := float64(unit * float64(n))
		both := float64(share * (right(t-x) + right(t+x)))
		if n > 0 {
			both = float64(2 * both)
		}
		sum, share = sum+both, float64(share*q)
	}
	return sum
}
