package residual

import (
	"fmt"
	"math"
)

// Upper bounds of p-values. All are two-sided except AtLeast.

// normalTail returns P(|Z| ≥ |x|).
func normalTail(x float64) float64 { return math.Erfc(math.Abs(x) / math.Sqrt2) }

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

// Tails counts draws, and how many of them exceed each level in absolute value.
type Tails struct {
	Draws  uint64
	beyond [len(levels)]uint64
}

// Add counts standardised draws.
func (t *Tails) Add(z []float64) {
	t.Draws += uint64(len(z))
	for _, v := range z {
		if v = math.Abs(v); v > levels[0] {
			for k, level := range levels {
				if v > level {
					t.beyond[k]++
				}
			}
		}
	}
}

// Merge adds the counts of other.
func (t *Tails) Merge(other Tails) {
	t.Draws += other.Draws
	for k, count := range other.beyond {
		t.beyond[k] += count
	}
}

// Test checks at each level whether too few draws exceed it, for example because draws are clamped, or too many.
func (t Tails) Test(name string) Test {
	f := newFinder(name, fmt.Sprintf("draws beyond %.1f … %.1f of their scale", levels[0], levels[len(levels)-1]), t.Draws)
	for k, level := range levels {
		p := normalTail(level)
		f.look(binomialTail(t.beyond[k], t.Draws, p), "%d beyond %.1f, %.4g expected", t.beyond[k], level, float64(t.Draws)*p)
	}
	return f.test()
}

// Reach returns the largest clamp, in scales, that this many draws reveal at level p. Beyond it, an absence of draws is
// no evidence of a clamp.
func (t Tails) Reach(p float64) float64 {
	low, high := 0.0, 40.0
	for range 60 {
		middle := (low + high) / 2
		if float64(len(levels))*binomialTail(0, t.Draws, normalTail(middle)) < p {
			low = middle
		} else {
			high = middle
		}
	}
	return low
}
