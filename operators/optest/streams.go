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
type plans map[string]plan

// plan is what every stream of a configuration shares. Machines are played in turn, and so they may share a mechanism.
type plan struct {
	calibration mechanisms.Calibration
	mechanism   *mechanisms.Mechanism
}

func (p plans) of(tb testing.TB, c mechanisms.Config) plan {
	tb.Helper()
	key := fmt.Sprintf("%#v", c)
	found, made := p[key]
	if !made {
		found.calibration = mechtest.Plan(tb, c)
		var err error
		if found.mechanism, err = mechanisms.NewMechanism(c, found.calibration); err != nil {
			tb.Fatal(err)
		}
		p[key] = found
	}
	return found
}
