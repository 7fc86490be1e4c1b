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

// The known part c of an origin (noise.go) changes the sum B of every statistic by s'c, because a filter takes it to be
// 0. The vector s is public. In the filter's innovations the known part is r'Ψc, where
//
//	Ψ = I at the start,    Ψ⁺ = (Q − K·r'/F)Ψ,    s = Σ_l g_l·(r'Ψ)/F.
//
// After a reset of the noise s keeps its value, because new draws do not contain c.

// driftLen returns how many numbers of a filter describe the drift: s, then Ψ by columns.
func driftLen(poles int) int { return poles + poles*poles }

// driftOf returns s and Ψ of a filter.
func driftOf(f []float64, poles int) (s, psi []float64) {
	d := f[heads+3*poles:][:driftLen(poles)]
	return d[:poles], d[poles:]
}

// startDrift sets Ψ at a start or at a reset, and keeps s.
func startDrift(f []float64, poles int, seen bool) {
	_, psi := driftOf(f, poles)
	clear(psi)
	f[drifting] = 0
	if seen {
		f[drifting] = 1
		for k := range poles {
			psi[k*poles+k] = 1
		}
	}
}

// faded is the sum of the squares of Ψ below which a filter leaves out the rest of s: about 2⁻³⁰ of it, which the
// rounding of priceOfClock covers.
const faded = 0x1p-60

// drift advances s and Ψ by a step. weight is g/F, and inverse is 1/F.
func drift(f, poles, residues []float64, weight, inverse float64) {
	m := len(poles)
	gain := f[heads:][:m]
	s, psi := driftOf(f, m)
	residues, size := residues[:m], 0.0
	for k := range s {
		column := psi[:m]
		psi = psi[m:]
		e := 0.0
		for l, x := range column {
			e += float64(residues[l] * x)
		}
		s[k] += float64(weight * e)
		e = float64(e * inverse)
		for l, x := range column {
			x = float64(poles[l]*x) - float64(gain[l]*e)
			column[l] = x
			size += float64(x * x)
		}
	}
	if size < faded {
		f[drifting] = 0
	}
}

// driftSquare returns s'Σs in the filter of the i-th ratio, where Σ is the covariance of the known part: the variance
// of s'c if nobody looks.
func (b *bank) driftSquare(i int, known *covariances) float64 {
	s, _ := driftOf(b.filter(i), len(b.noise.Poles))
	return known.square(s)
}
