package laplace

import (
	"math"
	"sort"
)

// Draws is N independent Laplace draws of one law.
type Draws struct {
	N         float64
	Deviation float64 // of a draw; of a discrete one in units
	Unit      float64 // a draw is a multiple of this unit, > 0; 0: continuous
}

// Sum is the sum of independent draws. Its law is symmetric.
type Sum []Draws

const (
	level    = 0.95
	alias    = 1e-12
	rounding = 1e-9
	enough   = 1e-9 // error by truncation that needs no more terms
	terms    = 1 << 15
)

// Deviation returns the standard deviation of the sum.
func (s Sum) Deviation() float64 {
	variance := 0.0
	for _, d := range s {
		x := d.Deviation
		if d.Unit != 0 {
			x *= d.Unit
		}
		variance += d.N * x * x
	}
	return math.Sqrt(variance)
}

// Whole returns the shortest window [−below, above] of whole numbers that has the sum with a probability of 95 %, for
// draws that are all multiples of 1: below = above or above − 1. Of one draw with r = 1 it is [−2, 3].
func (s Sum) Whole() (below, above float64) {
	t := math.Ceil(s.beyond(1 - level))
	law := s.wrapped(t, true)
	w := float64(sort.Search(2*int(t), func(w int) bool {
		return law.within(math.Floor(float64(w)/2), math.Ceil(float64(w)/2)) >= level
	}))
	return math.Floor(w / 2), math.Ceil(w / 2)
}

// Half returns t such that the sum is in [−t, t] with a probability of 95 %, for draws of which some are continuous.
func (s Sum) Half() float64 {
	low, high := 0.0, s.beyond(1-level)
	law := s.wrapped(high, false)
	for range 30 {
		if t := (low + high) / 2; law.within(t, t) < level {
			low = t
		} else {
			high = t
		}
	}
	return high
}

// has reports whether the sum is in [−t, t] with a probability of 95 %.
func (s Sum) has(t float64) bool { return t > 0 && s.wrapped(t, false).within(t, t) >= level }

// wrapped is the law of a sum wrapped at a period.
type wrapped struct {
	period, h float64
	factors   []float64 // (2/M)·φ(θ_k)/D(θ_k), k = 1, 2, …
	off       float64   // bound of the error of a probability
}

// wrapped returns the law for windows whose ends are at most t.
func (s Sum) wrapped(t float64, whole bool) wrapped {
	w, last, rest := wrapped{period: s.beyond(alias) + t}, terms, math.Inf(1)
	if whole {
		w.period, w.h = 2*math.Ceil(w.period/2)+1, 0.5
		last = int(min(terms, (w.period-1)/2))
	}
	for k := 1; k <= last && rest > enough; k++ {
		theta := 2 * math.Pi * float64(k) / w.period
		discrete, continuous, fall := 0.0, 0.0, 0.0
		for _, d := range s {
			x := d.at(theta)
			log := d.N * math.Log1p(x*x)
			if d.Unit == 0 {
				continuous += log
				fall += 2 * d.N * x * x / (1 + x*x)
			} else {
				discrete += log
			}
		}
		share, divisor := math.Exp(-discrete-continuous), theta
		if rest = math.Exp(-continuous) * 2 / (math.Pi * fall); whole {
			divisor, rest = 2*math.Sin(theta/2), share*math.Log(w.period)
		}
		w.factors = append(w.factors, 2*share/divisor/w.period)
	}
	if whole && float64(len(w.factors)) == (w.period-1)/2 {
		rest = 0 // all terms are there
	}
	w.off = rest + alias + rounding
	return w
}

// within returns a lower bound of the probability of a window [−b, a].
func (w wrapped) within(b, a float64) float64 {
	sum := (a + b + 2*w.h) / w.period
	for i, factor := range w.factors {
		theta := 2 * math.Pi * float64(i+1) / w.period
		sines := 2 * math.Sin((a+w.h)*theta)
		if a != b {
			sines = math.Sin((a+w.h)*theta) + math.Sin((b+w.h)*theta)
		}
		sum += factor * sines
	}
	return sum - w.off
}

// at returns x at θ: the factor of φ of a draw is 1/(1 + x²).
func (d Draws) at(theta float64) float64 {
	if d.Unit == 0 {
		return d.Deviation * theta / math.Sqrt2
	}
	return math.Sqrt2 * d.Deviation * math.Sin(d.Unit*theta/2)
}

// beyond returns t with P(|S| ≥ t) ≤ p, by Chernoff's bound 2·exp(−λt)·Π(1 − x²)^(−n) at the best λ of a geometric
// series.
func (s Sum) beyond(p float64) float64 {
	most, t := math.Inf(1), math.Inf(1)
	for _, d := range s {
		if d.Unit == 0 {
			most = min(most, math.Sqrt2/d.Deviation)
		} else {
			most = min(most, 2/d.Unit*math.Asinh(1/(math.Sqrt2*d.Deviation)))
		}
	}
	for j := 1; j <= 80; j++ {
		lambda := most * math.Pow(2, -float64(j)/2)
		log := math.Log(2 / p)
		for _, d := range s {
			x := d.Deviation * lambda / math.Sqrt2
			if d.Unit != 0 {
				x = math.Sqrt2 * d.Deviation * math.Sinh(d.Unit*lambda/2)
			}
			log -= d.N * math.Log1p(-x*x)
		}
		t = min(t, log/lambda)
	}
	return t
}
