package optest

import (
	"testing"

	"oriel/mechanisms"
	"oriel/mechanisms/mechtest"
	"oriel/mechanisms/noise"
	"oriel/operators"
	"oriel/schemas"
)

// Of makes machines of an operator over streams of m, all by one plan.
func Of(tb testing.TB, c operators.Configured, m mechanisms.Config) Make {
	tb.Helper()
	plan, err := c.Plan(m)
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

// AllocatesNoMore wants an event to cost a machine no more allocations than it costs the stream of m alone.
func AllocatesNoMore(
	t *testing.T, name string, machine operators.Machine, m mechanisms.Config, events []schemas.Event,
) {
	t.Helper()
	bare, row := mechtest.Open(t, m, [32]byte{1}), make([]float64, m.Leaf.Entries())
	dst, i := make([]operators.Decision, 0, 1), 0
	with := testing.AllocsPerRun(200, func() {
		r := operators.Record{Event: events[i%len(events)], Identity: noise.Identity{Offset: int64(i)}}
		dst = machine.Add(dst[:0], r)
		i++
	})
	if with > testing.AllocsPerRun(200, func() { bare.Add(noise.Identity{Offset: int64(i)}, row); i++ }) {
		t.Errorf("%s: %g allocations an event", name, with)
	}
}
