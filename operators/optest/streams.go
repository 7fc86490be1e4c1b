package optest

import (
	"fmt"
	"testing"

	"oriel/mechanisms"
	"oriel/mechanisms/mechtest"
)

// Open opens a stream for a machine. The suite chooses whether it has real noise or scripted sums.
type Open func(c mechanisms.Config) *mechanisms.Stream

// plans caches the plan of each configuration by the configuration's printed form, because a plan is made only when a
// deployment is opened.
type plans map[string]plan

// plan holds the data that all streams of a configuration share. Machines run one at a time, so they can share a
// mechanism.
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
