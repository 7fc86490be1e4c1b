package residual

import "math"

// Upper bounds of p-values. All are two-sided except AtLeast.

// normalTail returns P(|Z| ≥ |x|).
func normalTail(x float64) float64 { return math.Erfc(math.Abs(x) / math.Sqrt2) }

// beyond returns P(|Z| > k).
func beyond(k float64) float64 { return normalTail(k) }

// binomialTail bounds the probability that a Binomial(n, p) is at least as far from np as k, on either side:
// 2e^{−n·KL(k/n‖p)} (Chernoff 1952).
func binomialTail(k, n uint64, p float64) float64 {
	if n == 0 {
		return 1
	}
	q := float64(k) / float64(n)
	return min(1, 2*math.Exp(-float64(n)*divergence(q, p)))
}

// AtLeast bounds the probability of k or more successes in n trials, each of probability p given the trials before.
func AtLeast(k, n uint64, p float64) float64 {
	if q := float64(k) / float64(n); n > 0 && q > p {
		return math.Exp(-float64(n) * divergence(q, p))
	}
	return 1
}

// divergence returns q·ln(q/p) + (1−q)·ln((1−q)/(1−p)), rounded towards 0 where the two terms nearly cancel.
func divergence(q, p float64) float64 {
	term := func(q, p float64) float64 {
		if q == 0 {
			return 0
		}
		return q * math.Log1p((q-p)/p)
	}
	a, b := term(q, p), term(1-q, 1-p)
	return max(0, a+b-1e-15*(math.Abs(a)+math.Abs(b)))
}

// squaresTail bounds the probability that a chi-square of n degrees of freedom is at least as far from n as x, on
// either side: with r = x/n, 2(r·e^{1−r})^{n/2}.
func squaresTail(x float64, n uint64) float64 {
	if n == 0 {
		return 1
	}
	r := x / float64(n)
	if r <= 0 {
		return 0
	}
	return min(1, 2*math.Exp(float64(n)/2*min(0, math.Log1p(r-1)-(r-1)+1e-15*math.Abs(r-1))))
}
