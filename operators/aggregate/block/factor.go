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

// Energy returns Σ_{k<m} r_k². The released columns of a cell have independent noise of one standard deviation σ;
// then the running count at the end of bin i has the variance σ²·Energy(i+1)/w².
func Energy(m int) float64 {
	sum := 0.0
	for k := range m {
		r := Coefficient(k)
		sum += float64(r * r)
	}
	return sum
}

// Cumulate writes the running counts of m bins: dst[i] counts the events in bins 0 to i. columns are the m released
// columns divided by w. The function computes dst = R·columns, because R·R is the matrix of prefix sums (Henzinger,
// Upadhyay and Upadhyay 2023, "Almost tight error bounds on differentially private continual counting", section 3). It
// is O(m²). dst must not overlap columns.
func Cumulate(dst, columns []float64) {
	if len(dst) != len(columns) || len(dst) > MaxBins {
		panic(fmt.Sprintf("BUG: block: %d counts of %d columns, at most %d", len(dst), len(columns), MaxBins))
	}
	for i := range dst {
		sum := 0.0
		for j, x := range columns[:i+1] {
			sum += float64(Coefficient(i-j) * x)
		}
		dst[i] = sum
	}
}

// Covariance returns the covariance Σ_{k≤i} r_k·r_{k+j−i} of the counts i ≤ j that Cumulate makes of independent noise
// of variance 1.
func Covariance(i, j int) float64 {
	if i > j {
		i, j = j, i
	}
	sum := 0.0
	for k := range i + 1 {
		sum += float64(Coefficient(k) * Coefficient(k+j-i))
	}
	return sum
}

// longest returns the squared norm of the longest column.
func longest(m int, weight int64) (square uint64) {
	for k := range m {
		x := uint64(entry(weight, k))
		square = add(square, x*x)
	}
	return square
}

// entry returns K·r_k, rounded down, for 0 ≤ K < 2³³.
func entry(weight int64, k int) int64 { return weight * coefficients[k] >> coefficientBits }

// Deviations writes the standard deviations of counts[i] − level·counts[m−1], where Cumulate made the counts from
// columns of independent noise of variance 1. The test of a quantile divides by them. m = len(dst). The cost is O(m²),
// spent once for all cells.
func Deviations(dst []float64, level float64) {
	m := len(dst)
	for i := range dst {
		square := Covariance(i, i) - float64(float64(2*level)*Covariance(i, m-1))
		square += float64(float64(level*level) * Covariance(m-1, m-1))
		dst[i] = math.Sqrt(max(square, 0))
	}
}
