package numbers

import (
	"cmp"
	"math"
	"slices"
)

// span is the steps (from, to].
type span struct{ from, to uint64 }

func (s span) steps() uint64 { return s.to - s.from }

// join sorts spans and merges adjacent ones.
func join(spans []span) []span {
	slices.SortFunc(spans, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	joined := spans[:0]
	for _, s := range spans {
		if n := len(joined); n > 0 && joined[n-1].to == s.from {
			joined[n-1].to = s.to
			continue
		}
		joined = append(joined, s)
	}
	return joined
}

// ofCount returns the variance of the noise in the count over all that a stream has added to an interval.
func (p *partial) ofCount() float64 {
	if p.filter == nil {
		return p.windows.of(p.spans)
	}
	return p.windows[0] * p.windows[0] * p.filter.of(p.spans)
}

// Table is the message about decisions without increment_filter.
const Table = "decisions of an earlier deployment have no increment_filter: their intervals follow window_deviation, " +
	"to two per cent, and in the first steps of a stream are wider than 95 %"

// windows is the member window_deviation of a decision: the deviations of a count over the last 1, 2, 4, … steps.
type windows []float64

// variance returns V(w) for decisions without a filter, in the middle of a block, to within two per cent. Between two
// lengths of the table it interpolates the deviation linearly in the logarithms of both. Beyond the last length, at
// which the noise of the window's start has decayed, the variance is linear.
func (t windows) variance(w uint64) float64 {
	if w == 0 {
		return 0
	}
	at, last := math.Log2(float64(w)), len(t)-1
	if last == 0 {
		return t[0] * t[0] * float64(w)
	}
	if at >= float64(last) {
		half := math.Exp2(float64(last - 1))
		slope := max(0, t[last]*t[last]-t[last-1]*t[last-1]) / half
		return t[last]*t[last] + slope*(float64(w)-2*half)
	}
	low := min(int(at), last-1)
	f := at - float64(low)
	return math.Exp(2 * ((1-f)*math.Log(t[low]) + f*math.Log(t[low+1])))
}

// of returns the variance of a count over joined spans: the sum of their variances, plus twice the covariance of each
// pair. The covariance of two spans that are farther apart than the longest window is 0, because V is linear there.
func (t windows) of(spans []span) (v float64) {
	reach := uint64(1) << (len(t) - 1)
	for i, b := range spans {
		v += t.variance(b.steps())
		for j := i - 1; j >= 0 && b.from-spans[j].to < reach; j-- {
			a := spans[j]
			v += t.variance(b.to-a.from) + t.variance(b.from-a.to) - t.variance(b.from-a.from) - t.variance(b.to-a.to)
		}
	}
	return max(v, 0)
}
