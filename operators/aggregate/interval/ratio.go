package interval

import "math"

// Z95 is the two-sided normal quantile z: Φ(z) − Φ(−z) = 0.95.
const Z95 = 1.959963984540054

// Law is a law of noise, by how many standard deviations its draws stay within: 95, 95.5 and 99.5 % of them. They are
// constants, because decisions must have the same bytes on every machine.
type Law struct{ Z95, z955, z995 float64 }

// These are the laws of columns. One Laplace draw is the worst case: at the levels of 95 % and more, a sum of
// independent draws with any factors is within as many of its standard deviations (TestOneLaplaceDrawIsTheWorst). So
// the intervals of all numbers cover at least their level, by up to 1.6 % more for sums of many columns.
var (
	Normal  = Law{Z95, 2.0046544617651, 2.807033768343804}
	Laplace = Law{2.1183026052494206, 2.192803740340381, 3.7464761387645674} // ln(1/p)/√2 for p = 0.05, 0.045, 0.005
)

// Almost is the deviation of sums without noise. It is not 0, because intervals need a positive deviation.
const Almost = 1e-9

// shown is the number of standard deviations that a count must exceed for a ratio over it to be shown.
const shown = 12

// Noisy is a released number: its value, and the standard deviation of its noise, > 0.
type Noisy struct{ Value, Deviation float64 }

// Shown reports whether a mean or variance over a count is shown: the count must exceed 12 of its standard deviations.
// The rule is a function of the release. Fieller's set is then bounded, and nearly symmetric.
func (x Noisy) Shown() bool { return x.Value > float64(shown*x.Deviation) }

// Interval returns Value ± z·Deviation.
func (x Noisy) Interval(z float64) Interval {
	half := float64(z * x.Deviation)
	return Interval{x.Value - half, x.Value + half}
}

// Interval is [Low, High].
type Interval struct{ Low, High float64 }

// Value returns the value of x in [−1, 1] in the range from low to high. It clamps x, and −1 and 1 are exactly the ends
// of the range.
func Value(x, low, high float64) float64 {
	switch {
	case x <= -1:
		return low
	case x >= 1:
		return high
	}
	return float64((low+high)/2) + float64(float64((high-low)/2)*x)
}

// Form says which numbers a Set contains, relative to its Low and High.
type Form uint8

// These are the forms of a Set. The zero value is the least informative form.
const (
	Line    Form = iota // the set contains all numbers; Low and High are 0
	Bounded             // the set is [Low, High]
	Outside             // the set is (−∞, Low] and [High, ∞)
)

// Set is a confidence set of a ratio.
type Set struct {
	Form      Form
	Low, High float64
}

// Within returns the smallest interval that contains the part of the set in [low, high], the public range of the ratio.
// If that part is empty it returns the range. Decisions publish this interval: it is finite, Low ≤ High, and it covers
// as often as the set.
func (s Set) Within(low, high float64) Interval {
	all := Interval{low, high}
	switch {
	case s.Form == Bounded && s.Low <= high && s.High >= low:
		return Interval{max(low, s.Low), min(high, s.High)}
	case s.Form == Outside && s.High > high && s.Low >= low:
		return Interval{low, min(high, s.Low)}
	case s.Form == Outside && s.Low < low && s.High <= high:
		return Interval{max(low, s.High), high}
	}
	return all
}

// Ratio returns Fieller's set of y/x: all θ with (y − θx)² ≤ z²(s_y² + θ²s_x²), It covers with exactly the level of z,
// for all true x and y. With A = x² − z²s_x² the ends are (xy ± z·√(x²s_y² + y²s_x² − z²s_x²s_y²))/A. The set is
// bounded for A > 0. Otherwise it is the outside of an interval, or the whole line where the root is not real.
func Ratio(y, x Noisy, z float64) Set {
	square := func(a float64) float64 { return float64(a * a) }
	zx, zy := float64(z*x.Deviation), float64(z*y.Deviation)
	a := square(x.Value) - square(zx)
	rest := square(float64(x.Value*zy)) + square(float64(y.Value*zx)) - square(float64(zx*zy))
	if a == 0 || a < 0 && rest <= 0 {
		return Set{}
	}
	middle, half := float64(x.Value*y.Value), math.Sqrt(max(rest, 0))
	low, high := (middle-half)/a, (middle+half)/a
	if a < 0 {
		return Set{Outside, high, low}
	}
	return Set{Bounded, low, high}
}

// Mean returns the interval of a mean in [−1, 1] from a sum and a count.
func Mean(sum, count Noisy, z float64) Interval { return Ratio(sum, count, z).Within(-1, 1) }

// MeanPlan is a mean that a user plans to publish, from Events events of a cell. Range is the width of the public
// range, in the user's units. a and b are the public weights. At in [−1, 1] is the expected mean; 0 is the middle of
// the range. The noise of the count adds At² times its variance, so nothing for a mean in the middle. So a small a pays
// off only for means near the middle.
type MeanPlan struct {
	Count, Mean float64 // a, b > 0
	Range       float64 // width of the public range, > 0
	Events      float64 // number of events of the cell, > 0
	At          float64
}

// HalfWidth returns the half width of the mean's interval in the user's units: z·(Range/2)·σ·√(1/b² + At²/a²)/Events. σ
// is the standard deviation of a released column in loss units. The formula is of first order in the noise: it is
// Fieller's set for a count far above its noise.
func (p MeanPlan) HalfWidth(deviation, z float64) float64 {
	at := p.At / p.Count
	variance := 1/float64(p.Mean*p.Mean) + float64(at*at)
	return float64(float64(float64(z*p.Range)*math.Sqrt(variance))*deviation) / 2 / p.Events
}

// point holds the released numbers of a cell: n, S and Q.
type point struct{ count, sum, square Noisy }

// These are the limits of profile.
const (
	// bent limits the curvature of a surface of equal variance v. It is the largest allowed gap between the surface and
	// its tangent plane, at one deviation of the sum from the point where they touch; the unit is a deviation. With 0.1
	// the interval covers 0.948 to 0.953 in simulations, with 0.2 down to 0.93.
	bent = 0.1
	// rounds is the number of rounds of profile. Each round brings the point about five times nearer to the end.
	rounds = 6
)

// profile returns an end of the profile likelihood interval of v(n, S, Q) = Q/n + ½ − (S/n)². This is the largest
// variance of all points within z deviations of the release or, if z is negative, the least one within −z deviations
// (D. J. Venzon and S. H. Moolgavkar, A method for computing profile-likelihood-based confidence intervals, Appl. Stat.
// 37 (1988)). A variance is in the interval if the surface of points with this variance is within z deviations of the
// release. If the surface is flat, this distance is normal.
//
// In units of deviations, the gradient of v at the end points away from the release. So each round moves along the
// gradient at the previous point.
func (p point) profile(z float64) (v float64) {
	n, s, q := p.count.Value, p.sum.Value, p.square.Value
	for range rounds {
		mean := s / n
		dn := float64(p.count.Deviation*(float64(2*float64(mean*mean))-q/n)) / n
		ds := -2 * float64(p.sum.Deviation*mean) / n
		dq := p.square.Deviation / n
		along := z / math.Sqrt(float64(dn*dn)+float64(ds*ds)+float64(dq*dq))
		n = p.count.Value + float64(along*float64(dn*p.count.Deviation))
		s = p.sum.Value + float64(along*float64(ds*p.sum.Deviation))
		q = p.square.Value + float64(along*float64(dq*p.square.Deviation))
		mean = s / n
		v = q/n + 0.5 - float64(mean*mean)
	}
	return v
}

// flat reports whether the surfaces of equal variance v are flat enough for profile. On such a surface Q − S²/n + n(½ −
// v) = 0. One deviation s_S of S away, the surface and its tangent plane differ by s_S²/n.
func (p point) flat() bool {
	mean := p.sum.Value / p.count.Value
	ds := float64(2 * float64(mean*p.sum.Deviation))
	dn := float64(p.count.Deviation * (float64(2*float64(mean*mean)) - p.square.Value/p.count.Value))
	slope := math.Sqrt(float64(dn*dn) + float64(ds*ds) + float64(p.square.Deviation*p.square.Deviation))
	return float64(p.sum.Deviation*p.sum.Deviation)/p.count.Value <= float64(bent*slope)
}

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
