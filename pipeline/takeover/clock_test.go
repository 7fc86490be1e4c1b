package takeover

import (
	"slices"
	"testing"
	"time"

	"oriel/mechanisms/steps"
	"oriel/pipeline/kafka/group"
	"oriel/state"
)

// standingAt returns a take-over whose state stands at a slot of a stream by the clock, with 3 and 4 offsets of two
// partitions taken.
func standingAt(slot int64) *takeOver {
	t := &takeOver{}
	t.Start = &state.Ordered{Clock: true, Slot: 60}
	t.Position = state.Position{Next: 7, Order: t.Start.Clone()}
	t.Position.Order.Slot = slot
	for p, next := range []int64{3, 4} {
		t.Start.Set(state.OrderedPart{Partition: int32(p)})
		t.Position.Order.Set(state.OrderedPart{Partition: int32(p), Next: next, End: next})
	}
	return t
}

// TestGroupsByTheClock checks which places of a group are explained by the state and the rows of statuses. Two groups
// with equal offsets may stand before and after steps without records.
func TestGroupsByTheClock(t *testing.T) {
	at := func(slot, next int64) state.Place { return state.Place{Slot: slot, Next: next} }
	row := func(from, to state.Place, stretches ...state.Stretch) sealedStatuses {
		return sealedStatuses{StatusRow: state.StatusRow{From: from, To: to, Stretches: stretches}}
	}
	for name, c := range map[string]struct {
		offsets []group.Offset
		rows    []sealedStatuses
		group   state.Place // where the group stands
		end     state.Place // up to which something is committed
	}{
		"no offset": {
			[]group.Offset{{Partition: 0, Offset: -1}, {Partition: 1, Offset: -1}}, nil, at(0, -1), at(120, 7),
		},
		"the state's": {
			[]group.Offset{{Partition: 0, Offset: 3, Note: "61"}, {Partition: 1, Offset: 4, Note: "120"}},
			nil, at(120, 7), at(120, 7),
		},
		"set by hand": {
			[]group.Offset{{Partition: 0, Offset: 3}, {Partition: 1, Offset: 4}}, nil, at(120, 7), at(120, 7),
		},
		"behind by an empty step": {
			[]group.Offset{{Partition: 0, Offset: 3, Note: "60"}, {Partition: 1, Offset: 4, Note: "60"}},
			[]sealedStatuses{row(at(60, 7), at(120, 7))},
			at(60, 7), at(120, 7),
		},
		"behind by records": {
			[]group.Offset{{Partition: 0, Offset: 1, Note: "60"}, {Partition: 1, Offset: 4, Note: "60"}},
			[]sealedStatuses{row(at(60, 5), at(120, 7), state.Stretch{Partition: 0, From: 1, To: 3})},
			at(60, 5), at(120, 7),
		},
		"ahead by an empty step": {
			[]group.Offset{{Partition: 0, Offset: 3, Note: "180"}, {Partition: 1, Offset: 4, Note: "180"}},
			[]sealedStatuses{row(at(60, 7), at(120, 7)), row(at(120, 7), at(180, 7))},
			at(180, 7), at(180, 7),
		},
		"ahead by records and empty steps": {
			[]group.Offset{{Partition: 0, Offset: 3, Note: "60"}, {Partition: 1, Offset: 6, Note: "240"}},
			[]sealedStatuses{
				row(at(120, 7), at(180, 7)),
				row(at(180, 7), at(240, 9), state.Stretch{Partition: 1, From: 4, To: 6}),
			},
			at(240, 9), at(240, 9),
		},
	} {
		over := standingAt(120)
		f := &transactionStatus{
			verdicts: statusesFound{rows: c.rows}, offsets: c.offsets,
			group: over.standing(c.offsets), end: over.Position.Place(),
		}
		if err := over.lookAtGroup(t.Context(), f); err != nil || f.group != c.group || f.end != c.end {
			t.Errorf("%s: the group stands at %v, all ends at %v, %v; want %v and %v", name, f.group, f.end, err, c.group, c.end)
		}
	}
}

// TestTheGroupNeverGoesBack checks that a repair commits neither an earlier offset nor an earlier slot than the group
// has.
func TestTheGroupNeverGoesBack(t *testing.T) {
	over := standingAt(120)
	for name, c := range map[string]struct{ has, want []group.Offset }{
		"none": {nil, []group.Offset{{Partition: 0, Offset: 3, Note: "120"}, {Partition: 1, Offset: 4, Note: "120"}}},
		"ahead": {
			[]group.Offset{{Partition: 0, Offset: 3, Note: "60"}, {Partition: 1, Offset: 6, Note: "240"}},
			[]group.Offset{{Partition: 0, Offset: 3, Note: "240"}, {Partition: 1, Offset: 6, Note: "240"}},
		},
		"behind": {
			[]group.Offset{{Partition: 0, Offset: 3, Note: "60"}, {Partition: 1, Offset: 2, Note: "60"}},
			[]group.Offset{{Partition: 0, Offset: 3, Note: "120"}, {Partition: 1, Offset: 4, Note: "120"}},
		},
	} {
		f := &transactionStatus{offsets: c.has, group: over.standing(c.has)}
		if got := over.offsetsAt(over.Position, f); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// TestPartsByTheClock checks that a take-over sees which parts are before or beyond an empty step.
func TestPartsByTheClock(t *testing.T) {
	stands := standingAt(120).Position
	for _, c := range []struct {
		end, group state.Place
		complete   bool
		beyond     bool
	}{
		{state.Place{Slot: 120, Next: 7}, state.Place{Slot: 120, Next: 7}, true, false},
		{state.Place{Slot: 120, Next: 7}, state.Place{Slot: 60, Next: 7}, false, false},
		{state.Place{Slot: 180, Next: 7}, state.Place{Slot: 120, Next: 7}, false, true},
		{state.Place{Slot: 180, Next: 7}, state.Place{Slot: 180, Next: 7}, false, true},
		{state.Place{Slot: 120, Next: 7}, state.Place{Next: -1}, true, false},
	} {
		f := &transactionStatus{end: c.end, group: c.group}
		if got := f.complete(stands); got != c.complete || f.beyondState(stands.Place()) != c.beyond {
			t.Errorf("parts up to %v and the group at %v: complete is %v", c.end, c.group, got)
		}
	}
}

// TestLongOutages checks that a stream without an outage, which may have no decision for a step and a delay, never has
// a long one, and that an outage of a day is one.
func TestLongOutages(t *testing.T) {
	for _, length := range []int64{1, 3600, steps.Day, 30 * steps.Day} {
		clock, step := steps.Clock{Length: length}, time.Duration(length)*time.Second
		if isLong(step+2*time.Hour, clock) || isLong(step+24*time.Hour, clock) ||
			!isLong(step+24*time.Hour+time.Second, clock) {
			t.Errorf("steps of %v: a wrong outage is long", step)
		}
	}
}
