package page

import (
	"cmp"
	"math"
	"slices"

	"oriel/cmd/internal/figure"
	"oriel/mechanisms/protection"
)

// age is the loss at an age.
type age struct {
	Name    string `json:"name"`
	Steps   uint64 `json:"steps"`
	Seconds shown  `json:"seconds"` // at the observed rate of a stream; null: no events arrive
	Epsilon string `json:"epsilon"` // rounded up
}

// agesEvery is the number of ticks between computations of ε(age), each for the rate observed at that time.
const agesEvery = 10

// spans are the durations, in seconds, at which epsilon is shown.
var spans = []struct {
	name    string
	seconds float64
}{
	{"an hour", 3600}, {"a day", 86400}, {"a week", 7 * 86400}, {"30 days", 30 * 86400}, {"a year", 365 * 86400},
}

// agesOf returns ε(age) from a stream's frozen params: at the ages that `oriel plan` prints, and at durations for a
// rate of steps a second. Without params the result is empty, because current settings may have another ε(age).
func agesOf(g protection.Guarantee, proved bool, rate float64) []age {
	all := []age{}
	if !proved {
		return all
	}
	for _, a := range g.Scope.Ages() {
		all = append(all, age{a.Name, a.Steps, shown(float64(a.Steps) / rate), figure.Upper(g.AtAge(a).Epsilon)})
	}
	for _, span := range spans {
		steps := math.Ceil(rate * span.seconds)
		if rate > 0 && steps >= 1 && steps < 1<<62 {
			at := uint64(steps)
			all = append(all, age{span.name, at, shown(span.seconds), figure.Upper(g.At(at).Epsilon)})
		}
	}
	slices.SortStableFunc(all, func(a, b age) int { return cmp.Compare(a.Steps, b.Steps) })
	return all
}
