package interval

import "math"

// These are two-sided normal quantiles z: Φ(z) − Φ(−z) = 0.95, 0.955 and 0.995. They are constants, because decisions
// must have the same bytes on every machine.
const (
	Z95  = 1.959963984540054
	z955 = 2.0046544617651
	z995 = 2.807033768343804
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
