package sumtest

import "math"

// Comings returns rules of adaptive participation. A rule reports whether the user has an event in a step, given the
// earlier releases. Steps count from 0; events are at least two steps apart, at most two in four steps.
func Comings[N int64 | float64]() map[string]func(step int, y []N) bool {
	return map[string]func(step int, y []N) bool{
		"again at once or later": func(step int, y []N) bool {
			return step == 0 || step == 2 && y[0] > 0 || step == 3 && y[0] <= 0
		},
		"again after a large release, or never": func(step int, y []N) bool {
			return step == 0 || step == 2 && y[1] >= 2
		},
		"first when a release invites it": func(step int, y []N) bool {
			return step == 1 && y[0] >= 1 || step == 2 && y[0] < 1 && y[1] > 0 || step == 3 && y[0] >= 1 && y[2] < 0
		},
	}
}

// NormalCell returns P(round(s·Z) = n), Z standard normal.
func NormalCell(s float64) func(n int64) float64 {
	return func(n int64) float64 {
		x := math.Abs(float64(n)) // the upper tail, because it has no cancellation
		return (math.Erfc((x-0.5)/s/math.Sqrt2) - math.Erfc((x+0.5)/s/math.Sqrt2)) / 2
	}
}
