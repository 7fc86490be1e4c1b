package optest

import (
	"errors"
	"math"
	"strings"
	"testing"

	"oriel/mechanisms"
	"oriel/mechanisms/dp"
	"oriel/mechanisms/mechtest"
	"oriel/operators"
	"oriel/schemas"
)

// least is the least machine: a step is two records, the decision the private sum of their weighted values so far.
type least struct {
	stream *mechanisms.Stream
	leak   func(m *least, r operators.Record) // plants a fault
	point  [1]float64
	kept   byte // in the state, 0 without a fault
}

func (m *least) Open(dst []operators.Decision) []operators.Decision { return dst }

func (m *least) Add(dst []operators.Decision, r operators.Record) []operators.Decision {
	var gradient []float64
	v := r.Event.Vector
	if !r.Null && len(v.Values) == 1 && v.Indices == nil && v.Values[0] == v.Values[0] && r.Event.Weight >= 0 {
		gradient = []float64{r.Event.Weight * v.Values[0]}
	}
	closed := m.stream.Add(r.Identity, gradient)
	if closed {
		m.point[0] = m.stream.Sum()[0]
	}
	if m.leak != nil {
		m.leak(m, r)
	}
	if !closed {
		return dst
	}
	return append(dst, operators.Decision{Index: m.Steps(), Step: m.Steps(), Point: m.point[:]})
}

func (m *least) Steps() uint64 { return m.stream.Step() }

func (m *least) Due(step uint64) (uint64, int) { return step, int(min(step, 1)) }

func (m *least) StateLen() int { return 2 + m.stream.StateLen() }

func (m *least) AppendState(dst []byte) []byte {
	return m.stream.AppendState(append(dst, 1, m.kept))
}

func (m *least) Restore(state []byte) error {
	if len(state) != m.StateLen() || state[0] != 1 {
		return errors.New("least: state: no state of version 1")
	}
	if err := m.stream.Restore(state[2:]); err != nil {
		return err
	}
	m.kept = state[1]
	return nil
}

func (m *least) Guarantee() dp.Guarantee { return m.stream.Guarantee() }

func makeLeast(leak func(m *least, r operators.Record)) Make {
	return func(_ testing.TB, open Open) operators.Machine {
		c := mechtest.Config(1)
		c.Batch = 2
		return &least{stream: open(c), leak: leak}
	}
}

func leastEvents() []schemas.Event {
	events := make([]schemas.Event, 25)
	for i := range events {
		events[i] = schemas.Event{Vector: schemas.Vector{Values: []float64{float64(i) - 7}}, Weight: 1}
	}
	return events
}

func TestLeastMachinePasses(t *testing.T) { Run(t, makeLeast(nil), leastEvents()) }

// What a machine takes from its events past the private sum is found, in decisions, in their last bits, and in what it
// keeps.
func TestWhatPassesThePrivateSumIsFound(t *testing.T) {
	f := func(fault, want string, leak func(m *least, r operators.Record), changes ...string) {
		t.Helper()
		s := suite{make: makeLeast(leak), plans: plans{}, records: records(leastEvents())}
		for _, name := range changes {
			if got := s.differsOverGivenSums(t, otherEvents()[name]); !strings.Contains(got, want) || got == "" {
				t.Errorf("%s: records changed to %q: found %q, want %q", fault, name, got, want)
			}
		}
	}
	f("a part of the last event", "of other events", func(m *least, r operators.Record) {
		if !r.Null && len(r.Event.Vector.Values) == 1 && r.Event.Weight >= 0 {
			m.point[0] += 1e-6 * r.Event.Weight * r.Event.Vector.Values[0]
		}
	}, "null", "zero leaf", "heavy", "huge", "opposite", "values not finite")
	f("null flag in the last bit", "of other events", func(m *least, r operators.Record) {
		if r.Null {
			m.point[0] = math.Nextafter(m.point[0], math.Inf(1))
		}
	}, "null", "not null")
	f("malformed events in the last bit", "of other events", func(m *least, r operators.Record) {
		if r.Event.Weight != r.Event.Weight {
			m.point[0] = math.Nextafter(m.point[0], math.Inf(1))
		}
	}, "weight not a number")
	f("last weight in the state", "outside the stream", func(m *least, r operators.Record) {
		m.kept = byte(r.Event.Weight)
	}, "null", "zero leaf")
}
