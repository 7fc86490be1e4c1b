package optest

import (
	"errors"
	"math"
	"strings"
	"testing"

	"oriel/mechanisms"
	"oriel/mechanisms/mechtest"
	"oriel/mechanisms/protection"
	"oriel/mechanisms/steps"
	"oriel/operators"
	"oriel/schemas/event"
)

// least is a minimal machine: a step is two records, and the decision is the private sum of their weighted values so
// far.
type least struct {
	stream *mechanisms.Stream
	leak   func(m *least, r operators.Record) // nil, or a planted fault
	last   operators.Record
	point  [1]float64
	kept   byte // part of the state; 0 without a fault
}

func (m *least) Open(dst []operators.Decision) []operators.Decision { return dst }

func (m *least) Add(r operators.Record) {
	var gradient []float64
	v := r.Event.Vector
	if !r.Null && len(v.Values) == 1 && v.Indices == nil && v.Values[0] == v.Values[0] && r.Event.Weight >= 0 {
		gradient = []float64{r.Event.Weight * v.Values[0]}
	}
	m.stream.Add(r.Identity, gradient)
	m.last = r
	if m.leak != nil {
		m.leak(m, r)
	}
}

func (m *least) Close(dst []operators.Decision) []operators.Decision {
	m.stream.Close()
	m.point[0] = m.stream.Sum(0)[0]
	if m.leak != nil {
		m.leak(m, m.last)
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
	if len(state) < 2 || state[0] != 1 {
		return errors.New("least: state: no state of version 1")
	}
	if err := m.stream.Restore(state[2:]); err != nil {
		return err
	}
	m.kept = state[1]
	return nil
}

func (m *least) Guarantee() protection.Guarantee { return m.stream.Guarantee() }

// withDraws returns machines with draws, correct ones and planted faults: the law, the scores, or whether there is a
// draw depends on the last event.
func withDraws(
	when func(r operators.Record) bool, scores func(r operators.Record) []int64,
) func(m *least, r operators.Record) {
	return func(m *least, r operators.Record) {
		if when(r) {
			m.point[0] = float64(m.stream.Choose(0, scores(r), mechanisms.Exponential{
				Epsilon: mechanisms.Ratio{Num: 1, Den: 1}, Sensitivity: mechanisms.Ratio{Num: 1, Den: 1},
			}))
		}
	}
}

func always(operators.Record) bool { return true }

func equal(operators.Record) []int64 { return make([]int64, 100) }

// TestMachineWithDrawsPasses checks that a machine with draws passes, over its own sums and over scripted ones.
func TestMachineWithDrawsPasses(t *testing.T) {
	Run(t, makeLeast(withDraws(always, equal)), leastEvents())
}

// TestKeysAndNumbersAreChecked checks that keys reach the machine, which must not keep them, and that numbers of
// events are changed separately.
func TestKeysAndNumbersAreChecked(t *testing.T) {
	keys := 0
	RunKeyed(t, makeLeast(func(_ *least, r operators.Record) {
		if len(r.Key) == 1 {
			keys++
		}
	}), func(place int) []byte { return []byte{byte(place)} }, leastEvents())
	if keys == 0 {
		t.Error("no record had a key")
	}
	events := leastEvents()
	for i := range events {
		events[i].Numbers = []float64{float64(i) + 0.5}
	}
	all := func(state []byte) []byte { return state }
	s := suite{plans: plans{}, public: all, records: records(events), make: makeLeast(func(m *least, r operators.Record) {
		if len(r.Event.Numbers) > 0 {
			m.point[0] = math.Nextafter(m.point[0], r.Event.Numbers[0])
		}
	})}
	for _, name := range []string{"numbers opposite", "numbers zero"} {
		if got := s.differsOverScriptedSums(t, otherEvents()[name]); !strings.Contains(got, "of other events") {
			t.Errorf("%s: found %q", name, got)
		}
	}
}

// TestWaitingContentsMayDependOnEvents checks that the part of a state that is declared private may depend on events,
// and that the rest of the state, and decisions, may not.
func TestWaitingContentsMayDependOnEvents(t *testing.T) {
	counts := func(m *least, r operators.Record) {
		if m.kept = 0; !r.Null && r.Event.Weight == 1 && m.Steps()%2 == 0 {
			m.kept = 1
		}
	}
	behindCount := func(state []byte) []byte {
		return append(state[:steps.CountLen+1:steps.CountLen+1], state[steps.CountLen+2:]...)
	}
	none := func(int) []byte { return nil }
	RunHolding(t, makeLeast(counts), none, behindCount, leastEvents())
	f := func(fault string, leak func(m *least, r operators.Record), public func([]byte) []byte, want string) {
		t.Helper()
		s := suite{make: makeLeast(leak), plans: plans{}, public: public, records: records(leastEvents())}
		if got := s.differsOverScriptedSums(t, otherEvents()["null"]); !strings.Contains(got, want) {
			t.Errorf("%s: found %q", fault, got)
		}
	}
	f("a count that is not said to be held", counts, func(state []byte) []byte { return state }, "outside the stream")
	f("a count that is said to be elsewhere", counts, func(state []byte) []byte { return state[1:] }, "outside the stream")
	f("a count that is published", func(m *least, r operators.Record) {
		counts(m, r)
		m.point[0] += float64(m.kept)
	}, behindCount, "of other events")
}

func makeLeast(leak func(m *least, r operators.Record)) Make {
	return func(_ testing.TB, open Open) operators.Machine {
		c := mechtest.Config(1)
		c.Batch = 2
		return &least{stream: open(c), leak: leak}
	}
}

func leastEvents() []event.Event {
	events := make([]event.Event, 25)
	for i := range events {
		events[i] = event.Event{Vector: event.Vector{Values: []float64{float64(i) - 7}}, Weight: 1}
	}
	return events
}

func TestLeastMachinePasses(t *testing.T) { Run(t, makeLeast(nil), leastEvents()) }

// TestBypassesOfThePrivateSumAreFound checks that event data that bypasses the private sum is detected: in decisions,
// in their last bits, and in the state.
func TestBypassesOfThePrivateSumAreFound(t *testing.T) {
	all := func(state []byte) []byte { return state }
	f := func(fault, want string, leak func(m *least, r operators.Record), changes ...string) {
		t.Helper()
		s := suite{make: makeLeast(leak), plans: plans{}, public: all, records: records(leastEvents())}
		for _, name := range changes {
			if got := s.differsOverScriptedSums(t, otherEvents()[name]); !strings.Contains(got, want) || got == "" {
				t.Errorf("%s: records changed to %q: found %q, want %q", fault, name, got, want)
			}
		}
	}
	f("a part of the last event", "of other events", func(m *least, r operators.Record) {
		if !r.Null && len(r.Event.Vector.Values) == 1 && r.Event.Weight >= 0 {
			m.point[0] += 1e-6 * r.Event.Weight * r.Event.Vector.Values[0]
		}
	}, "null", "zero contribution", "heavy", "huge", "opposite", "values not finite")
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
	}, "null", "zero contribution")
	f("draws that come where an event is heavy", "draws of other events", withDraws(
		func(r operators.Record) bool { return r.Event.Weight > 1 }, equal), "heavy")
	f("scores that an event moves", "no guarantee has the price", withDraws(always, func(r operators.Record) []int64 {
		return []int64{int64(min(9, r.Event.Weight)), 0}
	}), "null", "zero contribution", "heavy")
	f("more scores where there is an event", "another one", withDraws(
		always, func(r operators.Record) []int64 { return make([]int64, 2+int(min(1, r.Event.Weight))) }), "null",
		"zero contribution")
}

// TestNeighboursThatDifferInMoreAreFound checks that neighbouring runs are reported if more than one contribution
// differs.
func TestNeighboursThatDifferInMoreAreFound(t *testing.T) {
	all := func(state []byte) []byte { return state }
	for fault, c := range map[string]struct {
		leak func(m *least, r operators.Record)
		want string
	}{
		"null flag in a decision": {func(m *least, r operators.Record) {
			if r.Null {
				m.point[0]++
			}
		}, "the point depends on events"},
		"draws for events": {
			withDraws(func(r operators.Record) bool { return !r.Null && r.Event.Weight > 0 }, equal), "draws so far",
		},
	} {
		s := suite{make: makeLeast(c.leak), plans: plans{}, public: all, records: records(leastEvents())}
		if got := s.faultOfNeighbours(t); !strings.Contains(got, c.want) {
			t.Errorf("%s: found %q", fault, got)
		}
	}
}
