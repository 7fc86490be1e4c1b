package plan

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strings"

	"oriel/mechanisms"
)

// printed is the note of constants that prove another ε than was asked for.
func printed(name string) string {
	if factsOf(name).Pure() {
		return "printed constants: ε is recomputed"
	}
	return "printed constants: ε is recomputed, and the ratio is to the optimum at that ε"
}

// candidate returns the configuration of a mechanism at the given setting: what note says is different, or why it does
// not fit.
func (in Input) candidate(v variant) (c mechanisms.Config, note, reason string) {
	c = in.Configured
	name, facts := v.name, factsOf(v.name)
	switch {
	case in.configured(v) && facts.Paper:
		return c, printed(name), ""
	case in.configured(v):
		return c, "", ""
	}
	switch {
	case c.UserWindow > 0:
		c.Window, c.Memory, c.UserWindow = c.UserWindow, 0, 0
		note = fmt.Sprintf("prefix sums, and a window of %d steps, that of users", c.Window)
	case c.Memory > 0:
		c.Window, c.Memory = c.Memory, 0
		note = fmt.Sprintf("prefix sums, and a window of %d steps, as long as the memory", c.Window)
	}
	c.Name, c.PaperSensitivity, c.AgeWeight, c.Poles = name, 0, 0, 0
	switch {
	case c.Budget.Delta == 0 && !facts.Pure():
		return c, "", "needs ORIEL_DELTA"
	case facts.Once && c.Separation > 0:
		return c, "", "has no user level: a user's events over a whole life have no bound"
	case facts.Once:
		c.Window, c.Horizon = 0, 0
		return c, "releases the sum of each step alone, once, and no prefix sum; its ε holds for ever", ""
	case c.Window == 0:
		return c, "", "needs a window"
	case facts.Paper:
		note = strings.TrimPrefix(note+"; "+printed(name), "; ")
	}
	if err := in.Operator.Mechanism(&c, nil); err != nil {
		return c, "", err.Error()
	}
	if c.Horizon > 0 {
		c.Window = c.Horizon
	}
	switch {
	case facts.Filter && c.Window > facts.MaxWindow:
		return c, "", fmt.Sprintf("its windows end at %d steps", facts.MaxWindow)
	case facts.Filter:
		c.AgeWeight = in.AgeWeight
	case c.Window&(c.Window-1) != 0:
		c.Window = uint64(1) << bits.Len64(c.Window)
		note = strings.TrimPrefix(note+fmt.Sprintf("; window %d, the next power of two", c.Window), "; ")
	}
	return c, note, ""
}

// ages returns those of 1, 10, 100 and 1000 windows and the one asked for, in order. Without a window all ages are one;
// with a horizon nothing is released after it.
func (in Input) ages() []Age {
	var ages []Age
	add := func(windows, steps uint64) {
		ages = append(ages, Age{windows, steps, in.seconds(steps)})
	}
	switch c := in.Configured; {
	case c.Span() == 0:
		add(0, max(1, in.Age))
		return ages
	case c.Horizon > 0:
		add(0, c.Horizon)
	default:
		for _, k := range []uint64{1, 10, 100, 1000} {
			add(k, times(k, c.Span()))
		}
	}
	if c := in.Configured; in.Age > 0 && (c.Horizon == 0 || in.Age < c.Horizon) &&
		!slices.ContainsFunc(ages, func(a Age) bool { return a.Steps == in.Age }) {
		add(0, in.Age)
		slices.SortFunc(ages, func(a, b Age) int { return cmp.Compare(a.Steps, b.Steps) })
	}
	return ages
}

// times multiplies, and stops at the last step that a stream can have.
func times(a, b uint64) uint64 {
	high, low := bits.Mul64(a, b)
	if high > 0 {
		return math.MaxUint64
	}
	return low
}

// seconds returns how long so many steps take, or none without a rate.
func (in Input) seconds(steps uint64) Number {
	if !(in.Rate > 0) {
		return none
	}
	return Number(float64(steps) * float64(in.Configured.Batch) / in.Rate)
}
