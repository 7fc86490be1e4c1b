package experiment

import (
	"math"
	"math/bits"

	"oriel/operators/elementary"
)

// choice is what an experiment pays because its start may have been chosen by looking (PROOF.md, Theorem 6). Let c be
// the known part of the states at the start, in the unit of a contrast's draws, Σ its covariance if nobody looks, and
// s'c what it adds to B. After an announcement at step a, c is a constant of which only its size is known:
//
//	E[(exp(c'Σ⁻¹c/2)/C)^u] ≤ δ,    C = ((1 − u)^(−m/2)/(δ·ω_a))^(1/u),    ω_a = 1/(64·2^⌊log₂ a⌋),
//
// where m is the number of positive poles, and the ω of all possible a sum to at most 1. For each public κ ≥ κ₀ the
// mixtures with the clock A + κ·s'Σs, divided by C^(1/κ) and by 1 + δ(p−1)^(p−1)/p^p with p = u·κ₀, are e-values.
type choice struct {
	origin
	log       float64 // ln C of one form
	logOfLift float64 // ln C of all forms of a family of two dimensions: 2m numbers in place of m
	worth     float64 // ln((A + r)/r) + 2 ln(1/α) at the target, for the best κ
}

// These constants are u, κ₀ and ln(1 + δ(p−1)^(p−1)/p^p), rounded up, with δ = 1/4. With this u, (1 − u)^(−m/2) is
// 10^(m/2).
const (
	moment       = 0.9
	leastClock   = 8
	priceOfClock = 0.0137
)

func (s *Settings) choice() (c choice) {
	c.origin = s.Noise.origin(s.Start, s.Announced)
	poles := 0.0
	for _, q := range s.Noise.Poles {
		if q > 0 {
			poles++
		}
	}
	if !c.seen || poles == 0 {
		c.seen = false
		return c
	}
	union := float64(math.Ln2 * float64(2+5+bits.Len64(s.Announced))) // ln(1/(δω))
	c.log = (float64(math.Ln10*poles/2) + union) / moment
	c.logOfLift = (float64(math.Ln10*poles) + union) / moment
	most := -float64(2 * elementary.Log(s.alpha()))
	c.worth = most + elementary.Log(1+most+elementary.Log(1+most))
	return c
}

// widen returns the reading with its clock and price. square is s'Σs. Its κ makes the sequence narrowest near the
// target: it minimises (A + r + κ·s'Σs)·(worth + 2 ln C/κ).
func (c *choice) widen(x reading, square, log float64) reading {
	if !c.seen {
		return x
	}
	x.price = priceOfClock
	if square > 0 {
		best := math.Sqrt(2 * log / c.worth * square * (x.information + x.mixing))
		x.added = max(float64(leastClock*square), best)
		x.price += float64(log * square / x.added)
	}
	return x
}

// away returns the square of how far the noise of a sum since the start may be from 0: one standard deviation of its
// fresh part, and the largest shift that c'Σ⁻¹c ≤ 2 ln C allows. Both are in units of a draw.
func (c *choice) away(spread, shift float64) float64 {
	most := float64(2 * c.log * shift)
	return spread + most + float64(2*math.Sqrt(float64(spread*most)))
}
