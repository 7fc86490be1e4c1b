package interval

import "math"

// Estimate is a ratio with its confidence set, whether it is shown, and its public range.
type Estimate struct {
	Value     float64 // estimate within the range; 0 if it is not shown
	Set       Set     // confidence set around Value
	Low, High float64 // ends of the public range
	Shown     bool
}

// MeanOf returns the mean in [−1, 1] from a sum and a count, and its Fieller set.
func MeanOf(sum, count Noisy, z float64) Estimate {
	e := Estimate{Low: -1, High: 1, Shown: count.Shown()}
	if e.Shown {
		e.Value, e.Set = sum.Value/count.Value, Ratio(sum, count, z)
	}
	return e
}

// ShareOf returns the share part/(part + rest) in [0, 1] of two counts of independent noise, and its confidence set:
// all θ with (y − θx)² ≤ z²·(s_y² − 2θs_y² + θ²s_x²). Here y is the part, and x is the sum of both, whose noise is the
// sum of both noises. It is Fieller's set for numbers of covariance s_y².
func ShareOf(part, rest Noisy, z float64) Estimate {
	square := func(a float64) float64 { return float64(a * a) }
	whole := Noisy{part.Value + rest.Value, math.Sqrt(square(part.Deviation) + square(rest.Deviation))}
	e := Estimate{High: 1, Shown: whole.Shown()}
	if !e.Shown {
		return e
	}
	zy, zx := square(float64(z*part.Deviation)), square(float64(z*whole.Deviation))
	a := square(whole.Value) - zx // > 0, because the denominator is shown and z is below 12
	b, c := float64(part.Value*whole.Value)-zy, square(part.Value)-zy
	half := math.Sqrt(max(square(b)-float64(a*c), 0))
	e.Value, e.Set = part.Value/whole.Value, Set{Bounded, (b - half) / a, (b + half) / a}
	return e
}

// Difference returns the first estimate minus the second, and an interval for this difference, from the sets of both by
// Zou and Donner's (2008) square-and-add: l = d − √((m₁−l₁)² + (u₂−m₂)²), u = d + √((u₁−m₁)² + (m₂−l₂)²). It is exact
// where the denominators have no noise. Where one estimate is not shown, the rule need not cover. The interval is then
// the whole possible range, and the difference its middle.
func Difference(first, second Estimate) (difference float64, ends Interval) {
	all := Interval{first.Low - second.High, first.High - second.Low}
	if !first.Shown || !second.Shown {
		return (all.Low + all.High) / 2, all
	}
	m1, m2 := first.Value, second.Value
	add := func(a, b float64) float64 { return math.Sqrt(float64(a*a) + float64(b*b)) }
	low := m1 - m2 - add(m1-first.Set.Low, second.Set.High-m2)
	high := m1 - m2 + add(first.Set.High-m1, m2-second.Set.Low)
	return max(all.Low, min(all.High, m1-m2)), Set{Bounded, low, high}.Within(all.Low, all.High)
}
