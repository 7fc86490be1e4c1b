package optest

import (
	"bytes"
	"fmt"
	"math"
	"testing"

	"oriel/mechanisms"
	"oriel/mechanisms/mechtest"
	"oriel/mechanisms/noise"
	"oriel/operators"
	"oriel/schemas/event"
)

// Of returns a Make for machines of an operator over streams of m. All of them have the same plan.
func Of(tb testing.TB, c operators.Operator, m mechanisms.Config) Make {
	tb.Helper()
	plan, err := c.Params(m)
	if err != nil {
		tb.Fatal(err)
	}
	return func(tb testing.TB, open Open) operators.Machine {
		tb.Helper()
		machine, err := c.Open(plan, open(m))
		if err != nil {
			tb.Fatal(err)
		}
		return machine
	}
}

// AllocatesNoMore checks that adding an event to a machine allocates no more than adding it to a stream of m without a
// machine.
func AllocatesNoMore(
	t *testing.T, name string, machine operators.Machine, m mechanisms.Config, events []event.Event,
) {
	t.Helper()
	counted := operators.ByCount(machine)
	stream, row := mechtest.ByCount(mechtest.Open(t, m, [32]byte{1})), make([]float64, m.Contribution.Entries())
	dst, i := make([]operators.Decision, 0, 1), 0
	with := testing.AllocsPerRun(200, func() {
		r := operators.Record{Event: events[i%len(events)], Identity: noise.Identity{Offset: int64(i)}}
		dst = counted.Add(dst[:0], r)
		i++
	})
	if with > testing.AllocsPerRun(200, func() { stream.Add(noise.Identity{Offset: int64(i)}, row); i++ }) {
		t.Errorf("%s: %g allocations an event", name, with)
	}
}

// Restores reports whether a machine accepts a state. It checks that a machine that refuses the state is unchanged, and
// that a machine that accepts the state stores it again as the same bytes.
func Restores(t *testing.T, m operators.Machine, state []byte) bool {
	t.Helper()
	before := m.AppendState(nil)
	if m.Restore(state) != nil {
		if !bytes.Equal(m.AppendState(nil), before) {
			t.Fatal("a refused state changes the machine")
		}
		return false
	}
	if !bytes.Equal(m.AppendState(nil), state) {
		t.Fatal("an accepted state is stored as other bytes")
	}
	return true
}

// ReferenceAgrees plays events on a machine, and checks that each contribution equals the reference model's.
// contribution returns the machine's own contribution, or nil if there is none.
func ReferenceAgrees(
	t *testing.T, name string, machine operators.Machine, contribution func(operators.Record) []float64,
	model operators.ReferenceModel, size int, events []event.Event,
) {
	t.Helper()
	model.Begin()
	counted := operators.ByCount(machine)
	want := make([]float64, size)
	for i, e := range events {
		r := operators.Record{Event: e, Identity: noise.Identity{Offset: int64(i)}}
		got, adds := contribution(r), model.Contribution(want, r)
		if adds != (got != nil) {
			t.Fatalf("%s: one of the two adds nothing", name)
		}
		for k := range got {
			if math.Abs(got[k]-want[k]) > 1e-12 {
				t.Fatalf("%s: contribution %v, want %v", name, got, want)
			}
		}
		model.Observe(counted.Add(nil, r))
	}
}

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
