package transaction

import (
	"math"
	"slices"
	"testing"

	"oriel/pipeline/kafka/group"
	"oriel/pipeline/kafka/records"
	"oriel/pipeline/streams"
	"oriel/state"
)

// TestOffsetsShowTheirSlot checks that the group's offsets of a stream with steps by the clock have its slot in their
// notes, even if no partition has moved. Offsets of a stream with steps by count have no notes.
func TestOffsetsShowTheirSlot(t *testing.T) {
	at := func(clock bool, slot int64, next ...int64) state.Position {
		p := state.Position{Order: &state.Ordered{Clock: clock, Slot: slot}}
		for partition, n := range next {
			p.Order.Set(state.OrderedPart{Partition: int32(partition), Next: n})
		}
		return p
	}
	for _, c := range []struct {
		since, to state.Position
		want      []group.Offset
	}{
		{at(true, 60, 3, 4), at(true, 61, 3, 7), []group.Offset{{Partition: 1, Offset: 7, Note: "61"}}},
		{
			at(true, 60, 3, 4), at(true, 120, 3, 4),
			[]group.Offset{{Partition: 0, Offset: 3, Note: "120"}, {Partition: 1, Offset: 4, Note: "120"}},
		},
		{at(false, 60, 3, 4), at(false, 61, 3, 7), []group.Offset{{Partition: 1, Offset: 7}}},
	} {
		tx := new(Transaction)
		if tx.setOffsets(0, c.since, c.to); !slices.Equal(tx.Offsets, c.want) {
			t.Errorf("offsets %v, want %v", tx.Offsets, c.want)
		}
	}
}

// TestEmptyStepsHaveARow checks that a transaction that only closes steps by the clock has one row without statuses,
// and that a transaction with records has no row in addition. A transaction without either end has none.
func TestEmptyStepsHaveARow(t *testing.T) {
	for _, c := range []struct {
		from, to state.Place
		rows     int
	}{
		{state.Place{Slot: 60, Next: 7}, state.Place{Slot: 120, Next: 7}, 1},
		{state.Place{Slot: 60, Next: 7}, state.Place{Slot: 120, Next: 9}, 1},
		{state.Place{Slot: 60, Next: 7}, state.Place{Slot: 60, Next: 9}, 1},
		{state.Place{Slot: 60, Next: 7}, state.Place{Slot: 60, Next: 7}, 0},
	} {
		tx, sealer := New(records.NewPool()), rowSealer(t)
		tx.Position = state.Position{Next: c.to.Next, Order: &state.Ordered{Clock: true, Slot: c.to.Slot}}
		if n := c.to.Next - c.from.Next; n > 0 {
			tx.setSkipped(n)
			tx.move(1, 3, 3+n)
		}
		tx.seal(sealer, c.from, 1)
		rows := 0
		for _, b := range tx.Rows.Batches() {
			rows += b.Count()
		}
		if rows != c.rows {
			t.Errorf("from %v to %v: %d rows, want %d", c.from, c.to, rows, c.rows)
		}
		if rows == 0 {
			continue
		}
		row, err := sealer.OpenStatuses(tx.row)
		if err != nil || row.From != c.from || row.To != c.to || len(row.Stretches) != min(len(row.Statuses), 1) {
			t.Errorf("from %v to %v: the row %+v, %v", c.from, c.to, row, err)
		}
	}
}

// TestWhatIsToBeCommitted checks that a Builder has something to commit once a step has closed or an order record has
// ended, with records or without, and that by the clock records alone are no reason to commit.
func TestWhatIsToBeCommitted(t *testing.T) {
	for name, c := range map[string]struct {
		clock             bool
		next, order, slot int64
		step              uint64
		want              bool
	}{
		"nothing": {true, 7, 5, 60, 3, false}, "an order record": {true, 7, 6, 61, 3, true},
		"a record behind void order records": {true, 8, 6, 60, 3, false},
		"a record of a later slot":           {true, 8, 5, 61, 3, false},
		"a step within an order record":      {true, 7, 5, 60, 4, true},
		"by count nothing":                   {false, 7, 5, 0, 3, false},
		"by count an order record":           {false, 7, 6, 0, 3, false},
		"by count a record":                  {false, 8, 5, 0, 3, true},
		"by count a step":                    {false, 7, 5, 0, 4, true},
	} {
		sent := state.Position{Next: 7, Step: 3, Order: &state.Ordered{Clock: c.clock, Next: 5}}
		if c.clock {
			sent.Order.Slot = 60
		}
		b := &Builder{Walk: &streams.Walk{Position: sent.Clone()}, sent: sent}
		b.Position.Next, b.Position.Step, b.Position.Order.Next, b.Position.Order.Slot = c.next, c.step, c.order, c.slot
		if got := b.Pending(); got != c.want {
			t.Errorf("%s: pending is %v", name, got)
		}
	}
}

// FuzzSlotOf checks that a slot is read only from the note that was written for it.
func FuzzSlotOf(f *testing.F) {
	for _, note := range []string{"", "0", "1795000000", "01", "+5", "-5", "9223372036854775808", "5 ", "trips"} {
		f.Add(note)
	}
	f.Fuzz(func(t *testing.T, note string) {
		slot := SlotOf(note)
		if slot < 0 || slot > 0 && SlotNote(slot) != note || slot == 0 && note == SlotNote(1) {
			t.Errorf("%q has slot %d", note, slot)
		}
	})
}

// TestNotesOfSlotsAreRead checks that the slot of each note is read from it.
func TestNotesOfSlotsAreRead(t *testing.T) {
	for _, slot := range []int64{0, 1, 60, 1_795_000_000, math.MaxInt64} {
		if got := SlotOf(SlotNote(slot)); got != slot {
			t.Errorf("slot %d is read as %d", slot, got)
		}
	}
}
