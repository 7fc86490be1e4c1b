package optest

import (
	"bytes"
	"math"
	"slices"
	"testing"

	"oriel/mechanisms"
	"oriel/mechanisms/noise"
	"oriel/operators"
	"oriel/schemas/decision"
	"oriel/schemas/event"
)

// Make returns a machine at step 0, always of the same configuration. All its private sums must come from streams of
// open.
type Make func(tb testing.TB, open Open) operators.Machine

// Run runs the suite on machines of newMachine with the events, of which there must be at least 20. Machines that are
// Naming have no sums: that their decisions follow from published counts, and that neighbours differ as claimed, is
// checked by the tests of names.
func Run(t *testing.T, newMachine Make, events []event.Event) {
	t.Helper()
	RunKeyed(t, newMachine, nil, events)
}

// RunKeyed is Run for machines that read the keys of records. key returns the key of the record at a place. Places
// count all records from 0, including null records. A nil key means that no record has a key.
func RunKeyed(t *testing.T, newMachine Make, key func(place int) []byte, events []event.Event) {
	t.Helper()
	RunHolding(t, newMachine, key, func(state []byte) []byte { return state }, events)
}

// RunHolding is RunKeyed for machines that hold contents of events until they are used, by a contribution or by a draw
// that the guarantee covers. Examples are contexts that wait for their feedback, and counts of an open step. public
// gets a state without the states of the machine's streams, and returns the bytes that must not depend on the contents
// of events.
func RunHolding(
	t *testing.T, newMachine Make, key func(place int) []byte, public func(state []byte) []byte, events []event.Event,
) {
	t.Helper()
	suite{make: newMachine, plans: plans{}, public: public, records: records(events)}.run(t, key)
}

// RunServing is RunHolding for machines whose second topic has one action for each record. An action is meant for the
// person in its record, and may depend on its contents. Over the same sums, the actions for all other records must be
// equal.
func RunServing(
	t *testing.T, newMachine Make, key func(place int) []byte, public func(state []byte) []byte, events []event.Event,
) {
	t.Helper()
	suite{make: newMachine, plans: plans{}, public: public, records: records(events), serves: true}.run(t, key)
}

func (s suite) run(t *testing.T, key func(place int) []byte) {
	t.Helper()
	if len(s.records) < 20 {
		t.Fatalf("BUG: optest: %d records are too few to tell machines apart", len(s.records))
	}
	for i := range s.records {
		if key != nil {
			s.records[i].Key = key(i)
		}
	}
	_, naming := s.newMachine(t).Machine.(operators.Naming)
	for _, c := range []struct {
		name  string
		check func(*testing.T)
	}{
		{"SameRecordsSameBytes", s.sameRecordsSameBytes},
		{"IndicesAscend", s.indicesAscend},
		{"DueIsWhatComes", s.dueIsWhatComes},
		{"RestartBeforeOpen", s.restartBeforeOpen},
		{"RestartAfterAnyRecord", s.restartAfterAnyRecord},
		{"RestartOnce", s.restartOnce},
		{"StateHasPublicLength", s.stateHasPublicLength},
		{"RefusedStateChangesNothing", s.refusedStateChangesNothing},
		{"NullTakesItsPlace", s.nullTakesItsPlace},
		{"UselessRecordIsNull", s.uselessRecordIsNull},
		{"LaterRecordsChangeNoEarlierDecision", s.laterRecordsChangeNothingEarlier},
		{"DecisionsArePostProcessing", s.decisionsArePostProcessing},
		{"NeighboursDifferAsClaimed", s.neighboursDifferAsClaimed},
		{"EventsAreNotKept", s.eventsAreNotKept},
		{"DestinationIsAppendedTo", s.destinationIsAppendedTo},
	} {
		if naming && slices.Contains(ofSums, c.name) {
			continue
		}
		t.Run(c.name, c.check)
	}
}

// ofSums are the checks that a Naming machine is not for. It has no sums, and, because its steps follow the clock, a
// state may be shorter without records.
var ofSums = []string{"DecisionsArePostProcessing", "NeighboursDifferAsClaimed", "StateHasPublicLength"}

type suite struct {
	make    Make
	plans   plans
	public  func(state []byte) []byte // bytes of a state, outside its streams, that must not depend on events
	records []operators.Record
	serves  bool // the second topic has one action for each record, which may depend on that record
}

// newMachine returns a machine over streams with their true noise, with the same keys at every call. Its steps close by
// count; those of a Naming machine close after 5 places for records.
func (s suite) newMachine(tb testing.TB) *operators.Counted {
	tb.Helper()
	key := [32]byte{7}
	m := s.make(tb, func(c mechanisms.Config) *mechanisms.Stream {
		tb.Helper()
		key[1]++
		return s.plans.of(tb, c).mechanism.Open(key)
	})
	if _, naming := m.(operators.Naming); naming {
		return operators.ByPlaces(m, 5)
	}
	return operators.ByCount(m)
}

// records gives events their places in a log, and adds a null record after every sixth event.
func records(events []event.Event) []operators.Record {
	var list []operators.Record
	add := func(r operators.Record) {
		r.Identity = noise.Identity{Topic: [16]byte{1}, Partition: 2, Offset: int64(len(list)), LeaderEpoch: 3}
		list = append(list, r)
	}
	for i, e := range events {
		add(operators.Record{Event: e})
		if i%6 == 5 {
			add(operators.Record{Null: true})
		}
	}
	return list
}

// history holds copies of all decisions of a run, and its last state.
type history struct {
	decisions []operators.Decision
	state     []byte
}

// play runs the records on one machine.
func play(m *operators.Counted, list []operators.Record) history {
	var h history
	h.decisions = operators.AppendCopies(nil, m.Open(nil))
	for _, r := range list {
		h.decisions = operators.AppendCopies(h.decisions, m.Add(nil, r))
	}
	h.state = m.AppendState(nil)
	return h
}

// sameDecision compares bits, because 0 and −0 can lead to different published bytes.
func sameDecision(a, b operators.Decision) bool {
	return a.Index == b.Index && a.Step == b.Step && a.Output == b.Output &&
		slices.EqualFunc(a.Point, b.Point, sameBits) &&
		slices.EqualFunc(a.Extras, b.Extras, func(x, y decision.ExtraValue) bool {
			return x.Text == y.Text && sameBits(x.Number, y.Number) && slices.EqualFunc(x.Numbers, y.Numbers, sameBits) &&
				slices.Equal(x.List, y.List)
		})
}

func sameBits(x, y float64) bool { return math.Float64bits(x) == math.Float64bits(y) }

func wantSame(t *testing.T, got, want history) {
	t.Helper()
	if len(got.decisions) != len(want.decisions) {
		t.Fatalf("%d decisions, want %d", len(got.decisions), len(want.decisions))
	}
	for i := range want.decisions {
		if !sameDecision(got.decisions[i], want.decisions[i]) {
			t.Fatalf("decision %d is %v, want %v", i, got.decisions[i], want.decisions[i])
		}
	}
	if !bytes.Equal(got.state, want.state) {
		t.Fatal("the decisions are equal and the last state differs")
	}
}

func same(a, b history) bool {
	return slices.EqualFunc(a.decisions, b.decisions, sameDecision) && bytes.Equal(a.state, b.state)
}

func (s suite) sameRecordsSameBytes(t *testing.T) {
	want := play(s.newMachine(t), s.records)
	if len(want.decisions) == 0 {
		t.Fatal("no decision at all")
	}
	wantSame(t, play(s.newMachine(t), s.records), want)
}

func (s suite) indicesAscend(t *testing.T) {
	m := s.newMachine(t)
	guarantee := m.Guarantee()
	last, sizes := uint64(0), map[uint8]int{} // index of the last decision; length of points by topic
	for i, r := range s.records {
		before := m.Steps()
		for _, d := range m.Add(nil, r) {
			if d.Index <= last && last != 0 {
				t.Fatalf("index %d after %d", d.Index, last)
			}
			if d.Step > m.Steps() {
				t.Fatalf("decision of step %d, of %d closed", d.Step, m.Steps())
			}
			if sizes[d.Output] == 0 {
				sizes[d.Output] = len(d.Point)
			}
			if n := sizes[d.Output]; len(d.Point) != n || n == 0 {
				t.Fatalf("decision of %d entries after %d", len(d.Point), n)
			}
			for _, x := range d.Point {
				if !(math.Abs(x) <= math.MaxFloat64) {
					t.Fatalf("decision %d is not finite", d.Index)
				}
			}
			last = d.Index
		}
		if after := m.Steps(); after != before && after != before+1 {
			t.Fatalf("record %d moves the steps from %d to %d", i, before, after)
		}
		if m.Guarantee() != guarantee {
			t.Fatalf("record %d changes the guarantee", i)
		}
	}
}

// dueIsWhatComes checks that the decisions of each step have exactly the indices that Due returns, both before the step
// and after it.
func (s suite) dueIsWhatComes(t *testing.T) {
	m := s.newMachine(t)
	got := map[uint64][]uint64{}
	note := func(decisions []operators.Decision) {
		for _, d := range decisions {
			got[d.Step] = append(got[d.Step], d.Index)
		}
	}
	note(m.Open(nil))
	for _, r := range s.records {
		note(m.Add(nil, r))
	}
	for _, from := range []*operators.Counted{s.newMachine(t), m} {
		for step := range m.Steps() + 1 {
			first, count := from.Due(step)
			want := got[step]
			if count != len(want) {
				t.Fatalf("step %d has %d decisions, %d are due", step, len(want), count)
			}
			for i, index := range want {
				if index != first+uint64(i) {
					t.Fatalf("step %d has index %d where %d is due", step, index, first+uint64(i))
				}
			}
		}
	}
}

func (s suite) laterRecordsChangeNothingEarlier(t *testing.T) {
	want := play(s.newMachine(t), s.records)
	for _, at := range []int{0, 1, len(s.records) / 2, len(s.records) - 1} {
		changed := slices.Clone(s.records)
		changed[at].Null = !changed[at].Null
		m := s.newMachine(t)
		got := play(m, changed[:at])
		for i, d := range got.decisions {
			if !sameDecision(d, want.decisions[i]) {
				t.Fatalf("a change of record %d changes decision %d, published before it", at, i)
			}
		}
		for _, r := range changed[at:] {
			got.decisions = operators.AppendCopies(got.decisions, m.Add(nil, r))
		}
		if len(got.decisions) != len(want.decisions) {
			t.Fatalf("a change of record %d changes the number of decisions", at)
		}
	}
}

// eventsAreNotKept overwrites each event after its Add, as a decoder does that reuses its arrays. Decisions must not
// change.
func (s suite) eventsAreNotKept(t *testing.T) {
	want := play(s.newMachine(t), s.records)
	m := s.newMachine(t)
	got := history{decisions: operators.AppendCopies(nil, m.Open(nil))}
	for i, r := range s.records {
		r.Event.Vector.Values = slices.Clone(r.Event.Vector.Values)
		r.Event.Vector.Indices = slices.Clone(r.Event.Vector.Indices)
		r.Event.Numbers, r.Key = slices.Clone(r.Event.Numbers), slices.Clone(r.Key)
		r.Event.Name = slices.Clone(r.Event.Name)
		published := m.Add(nil, r)
		if !slices.Equal(r.Event.Vector.Values, s.records[i].Event.Vector.Values) ||
			!slices.Equal(r.Event.Vector.Indices, s.records[i].Event.Vector.Indices) ||
			!slices.Equal(r.Event.Numbers, s.records[i].Event.Numbers) || !slices.Equal(r.Key, s.records[i].Key) ||
			!slices.Equal(r.Event.Name, s.records[i].Event.Name) {
			t.Fatalf("Add writes into event %d", i)
		}
		for j := range r.Event.Vector.Values {
			r.Event.Vector.Values[j] = math.NaN()
		}
		for j := range r.Event.Vector.Indices {
			r.Event.Vector.Indices[j] = -1
		}
		for j := range r.Event.Numbers {
			r.Event.Numbers[j] = math.NaN()
		}
		clear(r.Event.Name)
		for j := range r.Key {
			r.Key[j] ^= 0xff
		}
		got.decisions = operators.AppendCopies(got.decisions, published)
	}
	got.state = m.AppendState(nil)
	wantSame(t, got, want)
}

func (s suite) destinationIsAppendedTo(t *testing.T) {
	m := s.newMachine(t)
	mark := operators.Decision{Index: math.MaxUint64, Step: math.MaxUint64}
	for i, r := range s.records {
		got := m.Add([]operators.Decision{mark}, r)
		if len(got) == 0 || got[0].Index != mark.Index || got[0].Step != mark.Step {
			t.Fatalf("record %d: the former contents of dst are gone", i)
		}
	}
}
