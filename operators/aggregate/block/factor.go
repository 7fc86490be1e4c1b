package block

import (
	"fmt"
	"math"
)

// coefficientBits is the number of binary digits of a coefficient after the point.
const coefficientBits = 30

// coefficients holds r_k·2³⁰, rounded to the nearest integer, for r_k = C(2k, k)/4^k, the power series of (1−z)^{−1/2}.
var coefficients = frozen()

// frozen computes the coefficients by r_k = r_{k−1}·(2k−1)/(2k) in integers of unit 2⁻⁶². Each step rounds by less than
// one unit, so an error is below 2¹⁰·2⁻⁶². A test compares them with the exact fractions.
func frozen() (out [MaxBins]int64) {
	r := int64(1) << 62
	for k := range out {
		if k > 0 {
			r -= r / int64(2*k)
		}
		out[k] = (r + 1<<(61-coefficientBits)) >> (62 - coefficientBits)
	}
	return out
}

// Coefficient returns r_k, exactly as contributions use it.
func Coefficient(k int) float64 { return float64(coefficients[k]) / (1 << coefficientBits) }

// Reading returns the m numbers x of which running counts are made: count i is Σ_{k≤i} x_k·column_{i−k}. They are r_k,
// because R·R is the matrix of prefix sums (Henzinger, Upadhyay and Upadhyay 2023, "Almost tight error bounds on
// differentially private continual counting", section 3), or ones if the columns are a histogram.
func (b Block) Reading() []float64 {
	x := make([]float64, b.bins())
	for k := range x {
		if x[k] = 1; !b.Histogram {
			x[k] = Coefficient(k)
		}
	}
	return x
}

// Energy returns Σ x_k². The released columns of a cell have independent noise of one standard deviation σ; then the
// running count at the end of bin i has the variance σ²·Energy(x[:i+1])/w².
func Energy(reading []float64) float64 {
	sum := 0.0
	for _, x := range reading {
		sum += float64(x * x)
	}
	return sum
}

// Cumulate writes the running counts of m bins: dst[i] counts the events in bins 0 to i. columns are the m released
// columns divided by w. It is O(m²). dst must not overlap columns.
func Cumulate(dst, columns, reading []float64) {
	if len(dst) != len(columns) || len(dst) != len(reading) {
		panic(fmt.Sprintf("BUG: block: %d counts of %d columns, read by %d numbers", len(dst), len(columns), len(reading)))
	}
	for i := range dst {
		sum := 0.0
		for j, x := range columns[:i+1] {
			sum += float64(reading[i-j] * x)
		}
		dst[i] = sum
	}
}

// Covariance returns the covariance Σ_{k≤i} x_k·x_{k+j−i} of the counts i ≤ j that Cumulate makes of independent noise
// of variance 1.
func Covariance(reading []float64, i, j int) float64 {
	if i > j {
		i, j = j, i
	}
	sum := 0.0
	for k := range i + 1 {
		sum += float64(reading[k] * reading[k+j-i])
	}
	return sum
}

// longest returns the squared norm of the longest column.
func (u units) longest() (square uint64) {
	for k := range u.bins {
		x := uint64(u.entry(k))
		square = add(square, x*x)
	}
	return square
}

// entry returns row j + k of the column of bin j: K·r_k, rounded down, for 0 ≤ K < 2³³. A histogram has K in row j
// alone.
func (u units) entry(k int) int64 {
	if u.histogram {
		return u.quantile * int64(1-min(k, 1))
	}
	return u.quantile * coefficients[k] >> coefficientBits
}

// Deviations writes the standard deviations of counts[i] − level·counts[m−1], where Cumulate made the counts from
// columns of independent noise of variance 1. The test of a quantile divides by them. m = len(dst). The cost is O(m²),
// spent once for all cells.
func Deviations(dst, reading []float64, level float64) {
	m := len(dst)
	for i := range dst {
		square := Covariance(reading, i, i) - float64(float64(2*level)*Covariance(reading, i, m-1))
		square += float64(float64(level*level) * Covariance(reading, m-1, m-1))
		dst[i] = math.Sqrt(max(square, 0))
	}
}
