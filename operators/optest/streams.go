package optest

import (
	"testing"

	"oriel/mechanisms"
	"oriel/mechanisms/mechtest"
)

// Open opens a stream of a machine. What stands behind it, noise of its own or given sums, is the suite's to choose.
type Open func(c mechanisms.Config) *mechanisms.Stream

// plans are made once, as at an opening.
type plans map[mechanisms.Config]mechanisms.Plan

func (p plans) of(tb testing.TB, c mechanisms.Config) mechanisms.Plan {
	tb.Helper()
	plan, made := p[c]
	if !made {
		plan = mechtest.Plan(tb, c)
		p[c] = plan
	}
	return plan
}
