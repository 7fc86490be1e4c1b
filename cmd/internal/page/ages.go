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
	Seconds shown  `json:"seconds"` // at the observed rate of a stream; null: nothing moves
	Epsilon string `json:"epsilon"` // rounded up
}

// agesEvery is how many ticks pass before ε(age) is computed for the rate that is observed then.
const agesEvery = 10

// spans of time at whose ages epsilon is shown, in seconds.
var spans = []struct {
	name    string
	seconds float64
}{
	{"an hour", 3600}, {"a day", 86400}, {"a week", 7 * 86400}, {"30 days", 30 * 86400}, {"a year", 365 * 86400},
}

// agesOf is ε(age) of a stream's frozen params: at the ages that `oriel plan` prints, and after spans of time at a rate
// of so many steps a second. Without params there is none, because the settings may age in another way.
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
