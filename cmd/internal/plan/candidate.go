package plan

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strings"

	"oriel/cmd/internal/digits"
	"oriel/mechanisms"
	"oriel/mechanisms/protection"
)

// candidate returns the configuration of a variant under the given settings. note says how the configuration differs
// from the settings; reason says why the variant does not fit them.
func (in Input) candidate(v variant) (c mechanisms.Config, note, reason string) {
	c = in.Configured
	name, facts := v.name, factsOf(v.name)
	if in.configured(v) {
		return c, "", ""
	}
	c.Terms, note = c.Windowed()
	c.Name, c.Printed, c.AgeWeight, c.Poles = name, nil, 0, 0
	_, several := c.Unit.EventSeparation()
	switch {
	case c.Budget.Delta == 0 && !facts.Pure():
		return c, "", "needs ORIEL_DELTA"
	case facts.Structure == mechanisms.PerStep && several:
		return c, "", "has no user level: a user's events over a whole life have no bound"
	case facts.Structure == mechanisms.PerStep:
		c.Scope = protection.PerStep{}
		return c, "releases the sum of each step alone, once, and no prefix sum; its ε holds for ever", ""
	case c.Scope.Span() == 0:
		return c, "", "needs a window"
	}
	if err := in.Operator.Require(&c, nil); err != nil {
		return c, "", err.Error()
	}
	c.Scope = c.Scope.RoundedUp(false)
	switch {
	case facts.Structure == mechanisms.Filter && c.Scope.Span() > facts.MaxWindow:
		return c, "", fmt.Sprintf("its windows end at %d steps", facts.MaxWindow)
	case facts.Structure == mechanisms.Filter:
		c.AgeWeight = in.AgeWeight
		return c, note, ""
	}
	if power := c.Scope.RoundedUp(true); power.Span() != c.Scope.Span() {
		c.Scope = power
		note = strings.TrimPrefix(note+fmt.Sprintf("; window %d, the next power of two", c.Scope.Span()), "; ")
	}
	return c, note, ""
}

// ages returns the ages of the scope and the requested age, in order. If the loss is the same at all ages, it returns
// only one age.
func (in Input) ages() []Age {
	scope := in.Configured.Scope
	var ages []Age
	add := func(name string, windows, steps uint64) {
		ages = append(ages, Age{windows, steps, in.seconds(steps), name})
	}
	for _, age := range in.Configured.Words().Ages {
		add(age.Name, age.Spans, age.Steps)
	}
	if scope.Span() == 0 {
		ages[0].Steps, ages[0].Seconds = max(1, in.Age), in.seconds(max(1, in.Age))
		return ages
	}
	if in.Age > 0 && in.Age < scope.End() && !slices.ContainsFunc(ages, func(a Age) bool { return a.Steps == in.Age }) {
		add("age", 0, in.Age)
		slices.SortFunc(ages, func(a, b Age) int { return cmp.Compare(a.Steps, b.Steps) })
	}
	return ages
}

// times multiplies two numbers. It saturates at the largest number of steps that a stream can have.
func times(a, b uint64) uint64 {
	high, low := bits.Mul64(a, b)
	if high > 0 {
		return math.MaxUint64
	}
	return low
}

// seconds returns how long the given number of steps takes, or none if the rate is unknown.
func (in Input) seconds(steps uint64) digits.Number {
	if !(in.Rate > 0) {
		return digits.None
	}
	return digits.Number(float64(steps) * float64(in.Configured.Batch) / in.Rate)
}
