package names

import (
	"math"
	"sort"
)

// Law is the law of a published count y = c + n: the noise n, and the threshold that y must reach.
type Law struct {
	Epsilon   float64 // of one name, rounded up; 0 for normal noise
	Mu        float64 // of one name, rounded up; 0 for Laplace noise
	Max       int64   // M: |n| is at most M; for normal noise with a probability above 1 − 2^-63
	Threshold int64   // τ
	Leak      float64 // q: the probability that a name with count 1 is published, rounded up
	Deviation float64 // standard deviation of n

	tails []float64 // P(n ≥ k) for k = 1 … M
}

// NewLaw returns the law with these tails P(n ≥ k), k = 1 … M, of a noise that is symmetric around 0. The probabilities
// must fall.
func NewLaw(tails []float64, threshold int64) *Law {
	law := &Law{Max: int64(len(tails)), Threshold: threshold, tails: tails}
	square := 0.0 // Σn²P(n) = 2·Σ(2k − 1)P(n ≥ k) over k ≥ 1
	for k, tail := range tails {
		square += float64(float64(2*(2*k+1)) * tail)
	}
	law.Deviation, law.Leak = math.Sqrt(square), math.Float64frombits(math.Float64bits(law.Reaches(1))+1)
	return law
}

// above returns P(n ≥ k).
func (l *Law) above(k int64) float64 {
	switch {
	case k > l.Max:
		return 0
	case k > 0:
		return l.tails[k-1]
	case k > -l.Max:
		return 1 - l.tails[-k]
	}
	return 1
}

// Reaches returns the probability that a name with count c is published.
func (l *Law) Reaches(c int64) float64 { return l.above(l.Threshold - c) }

// Interval returns an interval of the count of a name that was published with y, because y is at least floor. It is the
// inversion of two tests of level alpha/2 each, of the law given y ≥ floor: counts c with P(y' ≥ y | y' ≥ floor) >
// alpha/2 and P(y' ≤ y | y' ≥ floor) > alpha/2. Both probabilities are monotone in c, because the law of the noise is
// log-concave. So among the published names the interval has the count with probability 1 − alpha at least. floor is at
// least the threshold.
func (l *Law) Interval(y, floor int64, alpha float64) (low, high int64) {
	least, most := max(1, y-l.Max), y+l.Max
	// 2⁻⁴⁰ covers the rounding of the quotients, so that an end is never too near.
	level := float64(alpha * (0.5 - 0x1p-41))
	low = least + search(most-least, func(i int64) bool {
		return l.above(y-least-i) > float64(level*l.above(floor-least-i))
	})
	high = low + search(most-low, func(i int64) bool {
		c := low + i + 1
		below := l.above(floor-c) - l.above(y+1-c)
		return below <= float64(level*l.above(floor-c))
	})
	return low, high
}

// Hidden returns the largest count that is not published with a probability of at least alpha, if a name is published
// from floor on; 0 if there is none.
func (l *Law) Hidden(floor int64, alpha float64) int64 {
	return search(floor+l.Max, func(c int64) bool { return !(l.above(c+2-floor) >= float64(alpha*(1-0x1p-40))) })
}

// search returns the least i of 0 … n for which yes holds, or n. yes must be monotone.
func search(n int64, yes func(i int64) bool) int64 {
	return int64(sort.Search(int(n), func(i int) bool { return yes(int64(i)) }))
}
