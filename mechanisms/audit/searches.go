package audit

import "math"

// least returns the smallest n in [1, limit] for which enough holds; enough holds from some n on. It is limit if there
// is none.
func least(limit int, enough func(n int) bool) int {
	high := 1
	for high < limit && !enough(high) {
		high = min(2*high, limit)
	}
	low := high / 2
	for high-low > 1 {
		if middle := low + (high-low)/2; enough(middle) {
			high = middle
		} else {
			low = middle
		}
	}
	return high
}

// expected returns the right guesses of r at rate p that one sees with probability 0.84 at least: one standard
// deviation below the mean.
func expected(p float64, r int) int {
	n := float64(r)
	return max(0, int(n*p-math.Sqrt(n*p*(1-p))))
}
