package page

import (
	"cmp"
	"math"
	"slices"

	"oriel/cmd/internal/digits"
	"oriel/mechanisms/dp"
	"oriel/mechanisms/protection"
)

// age is the privacy loss at an age of an event.
type age struct {
	Name    string `json:"name"`
	Steps   uint64 `json:"steps"`
	Seconds shown  `json:"seconds"` // the age in time, at the observed rate of a stream; null: no events arrive
	Epsilon string `json:"epsilon"` // loss, rounded up
}

// agesEvery is the number of ticks for which the page shows the same ages. During the first ticks it computes them each
// time, because the observed rate still changes much.
const agesEvery = 10

// spans are the durations, in seconds, at which epsilon is shown.
var spans = []struct {
	name    string
	seconds float64
}{
	{"an hour", 3600}, {"a day", 86400}, {"a week", 7 * 86400}, {"30 days", 30 * 86400}, {"a year", 365 * 86400},
}

// agesNow returns ε(age) for a frame, at the rate of steps: that of the clock, or the observed one. The page calls it
// only if it has a visitor, because each loss takes milliseconds. The caller must hold the lock.
func (p *Page) agesNow() []age {
	if past := p.ticks - p.agesAt; p.ages == nil || past >= agesEvery || past > 0 && p.ticks < agesEvery {
		perStream := p.history.rate() / float64(max(1, len(p.partitions))) // mean over the partitions that this process owns
		if p.about.Step > 0 {
			perStream = 1 / p.about.Step.Seconds()
		}
		p.ages, p.agesAt = agesOf(p.guarantee, p.proved, perStream, p.ages), p.ticks
	}
	return p.ages
}

// agesOf returns ε(age) from a stream's frozen params: at the ages that `oriel plan` prints, and at durations for a
// rate of steps a second. Without params the result is empty, because the current settings may give another ε(age).
// before is the previous result for the same params, or nil; its losses are not computed again.
func agesOf(g protection.Guarantee, proved bool, rate float64, before []age) []age {
	all := []age{}
	if !proved {
		return all
	}
	add := func(name string, steps uint64, seconds float64, budget func() dp.Budget) {
		a := age{Name: name, Steps: steps, Seconds: shown(seconds)}
		if i := slices.IndexFunc(before, func(b age) bool { return b.Name == name && b.Steps == steps }); i >= 0 {
			a.Epsilon = before[i].Epsilon
		} else {
			a.Epsilon = digits.Upper(budget().Epsilon)
		}
		all = append(all, a)
	}
	for _, a := range g.Words().Ages {
		add(a.Name, a.Steps, float64(a.Steps)/rate, func() dp.Budget { return g.AtAge(a) })
	}
	for _, span := range spans {
		steps := math.Ceil(rate * span.seconds)
		if rate > 0 && steps >= 1 && steps < 1<<62 {
			add(span.name, uint64(steps), span.seconds, func() dp.Budget { return g.At(uint64(steps)) })
		}
	}
	slices.SortStableFunc(all, func(a, b age) int { return cmp.Compare(a.Steps, b.Steps) })
	return all
}
