package optest

import (
	"fmt"
	"testing"

	"oriel/mechanisms"
	"oriel/mechanisms/mechtest"
)

// Open opens a stream of a machine. What stands behind it, noise of its own or given sums, is the suite's to choose.
type Open func(c mechanisms.Config) *mechanisms.Stream

// plans are made once, as at an opening, and found by the configuration as it prints.
type plans map[string]mechanisms.Calibration

func (p plans) of(tb testing.TB, c mechanisms.Config) mechanisms.Calibration {
	tb.Helper()
	key := fmt.Sprintf("%#v", c)
	plan, made := p[key]
	if !made {
		plan = mechtest.Plan(tb, c)
		p[key] = plan
	}
	return plan
}
