package interval

import "fmt"

// Quantile returns an interval in [−1, 1] of the quantile of a level p in (0, 1), in whole bins. The quantile is the
// least x such that a share p of events is at most x. counts are the released running counts of m bins of equal width.
// deviations are the standard deviations of counts[i] − p·counts[m−1]. This figure has mean at most 0 before the
// quantile's bin and at least 0 from it on.
//
// The test that the quantile is in bin j rejects when the figure of bin j−1 is above z deviations, or the figure of bin
// j is below −z. Each has at most half of z's level, so that the set of bins that are not rejected covers with the
// level of z. The result is the smallest interval with all of them, or all of [−1, 1] if none is left.
func Quantile(counts, deviations []float64, level, z float64) Interval {
	m := len(counts)
	if m == 0 || len(deviations) != m {
		panic(fmt.Sprintf("BUG: interval: %d counts and %d deviations", m, len(deviations)))
	}
	total := float64(level * counts[m-1])
	first, last := -1, -1
	above := false // the test quantity of the previous bin is above z deviations
	for j, count := range counts {
		figure, bound := count-total, float64(z*deviations[j])
		if !above && !(figure < -bound) {
			if first < 0 {
				first = j
			}
			last = j
		}
		above = figure > bound
	}
	if first < 0 {
		return Interval{-1, 1}
	}
	return Interval{edge(float64(first), m), edge(float64(last+1), m)}
}

// QuantileEstimate returns the point where running counts reach a share p of all. Within a bin it interpolates
// linearly, as histogram_quantile of Prometheus does. Noise may let the counts cross the share more than once. The
// result is then the middle between the first crossing and the last, and always within Quantile's interval. If the
// count of all events is not above 0, nothing is known, and the result is 0, the middle of the range.
func QuantileEstimate(counts []float64, level float64) float64 {
	m := len(counts)
	if !(counts[m-1] > 0) {
		return 0
	}
	total, before := float64(level*counts[m-1]), 0.0
	first, last, found := 0.0, 0.0, false
	for j, count := range counts {
		if before <= total && count >= total {
			last = edge(float64(j), m)
			if count > before {
				last += float64(2*((total-before)/(count-before))) / float64(m)
			}
			if !found {
				first, found = last, true
			}
		}
		before = count
	}
	return (first + last) / 2
}

// edge returns the upper edge of the first j of m bins. j need not be an integer.
func edge(j float64, m int) float64 { return float64(2*j)/float64(m) - 1 }
