package interval

import "math"

// cells is the number of intervals into which variance divides the means of Fieller's set. More of them would shorten
// its result by less than a per cent.
const cells = 16

// Variance returns an interval of 95 % of the variance of x about its mean, in [0, 1], from count, sum and square, the
// sum of x² − ½. It uses profile where the count is Shown and the surface is flat, and the wider union elsewhere.
func Variance(square, sum, count Noisy, law Law) Interval {
	if p := (point{count, sum, square}); count.Shown() && p.flat() {
		return Set{Bounded, p.profile(-law.Z95), p.profile(law.Z95)}.Within(0, 1)
	}
	return variance(square, sum, count, law)
}

// variance returns an interval that covers the true variance with probability 95 % or more, for every truth.
//
// For the true mean µ and the true variance v, Q − 2µS + n(µ² + ½ − v) has mean zero. Let G = Q − 2µS, which has
// variance g = s_Q² + 4µ²s_S². Then v is µ² + ½ + G/n, and Ratio has the set of G/n at 95.5 %. µ is in Fieller's set at
// 99.5 %. The union of the sets of v over all µ in Fieller's set misses v with probability 0.5 % + 4.5 % at most.
//
// The result contains this union. With A = n² − z²s_n² the ends of the set at µ are m ± z√h/A, where m = µ² + ½ + nG/A
// and h = A·g + s_n²·G² are convex parabolas in µ. Over an interval of means, m and h are largest at one of its ends. m
// is least at an end or at its vertex nS/A.
func variance(square, sum, count Noisy, law Law) Interval {
	a := float64(count.Value*count.Value) - float64(float64(law.z955*law.z955)*float64(count.Deviation*count.Deviation))
	if !(a > 0 && count.Value > 0) {
		return Interval{0, 1}
	}
	u := union{square: square, sum: sum, count: count, a: a, z: law.z955}
	means := Ratio(sum, count, law.z995).Within(-1, 1)
	vertex := float64(count.Value*sum.Value) / a
	set := Set{Bounded, math.Inf(1), math.Inf(-1)}
	step := (means.High - means.Low) / cells
	left := means.Low
	middle, half := u.at(left)
	for k := 1; k <= cells; k++ {
		right := means.Low + float64(step*float64(k))
		nextMiddle, nextHalf := u.at(right)
		widest := max(half, nextHalf)
		least := min(middle, nextMiddle)
		if left < vertex && vertex < right {
			bottom, _ := u.at(vertex)
			least = min(least, bottom)
		}
		set.Low, set.High = min(set.Low, least-widest), max(set.High, max(middle, nextMiddle)+widest)
		left, middle, half = right, nextMiddle, nextHalf
	}
	return set.Within(0, 1)
}

// union holds the numbers from which variance bounds the sets of all means.
type union struct {
	square, sum, count Noisy
	a, z               float64
}

// at returns the middle m and the half width z√h/A of the set of variances for a true mean (see variance).
func (u union) at(mean float64) (middle, half float64) {
	ratio := u.square.Value - float64(2*float64(mean*u.sum.Value))
	s := float64(2 * float64(mean*u.sum.Deviation))
	g := float64(u.square.Deviation*u.square.Deviation) + float64(s*s)
	t := float64(u.count.Deviation * ratio)
	middle = float64(mean*mean) + 0.5 + float64(u.count.Value*ratio)/u.a
	return middle, float64(u.z*math.Sqrt(float64(u.a*g)+float64(t*t))) / u.a
}
