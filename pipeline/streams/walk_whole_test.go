package streams

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"oriel/pipeline/kafka/fetch"
	"oriel/state"
)

// wholeOf returns a walk over a whole topic whose next offsets are 10 of partition 0 and 500 of partition 2.
func wholeOf(t *testing.T) (w *walked, moved *[]string) {
	t.Helper()
	w, moved = walkOf(t, nil, 0), new([]string)
	w.Position = state.Position{Next: 7, LeaderEpoch: -1, Order: &state.Ordered{Next: 3, LeaderEpoch: 1}}
	w.Position.Order.Parts = []state.OrderedPart{
		{Partition: 0, Next: 10, End: 10, LeaderEpoch: 4, Ordered: 4},
		{Partition: 2, Next: 500, End: 500, LeaderEpoch: -1, Ordered: -1},
	}
	w.Moved = func(p int32, from, to int64) { *moved = append(*moved, fmt.Sprintf("%d: %d to %d", p, from, to)) }
	return w, moved
}

// TestWalkOverAWholeTopic checks that each record has its own partition and offset, and then checks the position in
// each partition and in the order log. A batch that is taken in part must leave the walk inside the batch's order
// record.
func TestWalkOverAWholeTopic(t *testing.T) {
	w, moved := wholeOf(t)
	first := fetch.Batch{
		Partition: 2, Shift: 7 - 500, From: 500, Next: 505, LeaderEpoch: 6, Records: recordsAt(6, 500, 502),
		Epochs: []fetch.Epoch{{Base: 500, Leader: 6}},
		Order:  &fetch.Order{Record: 3, LeaderEpoch: 2, Slot: 70, End: 509, Epoch: 6},
	}
	if err := w.Take(&first, everything); err != nil {
		t.Fatal(err)
	}
	if o := w.Position.Order; o.Next != 3 || o.LeaderEpoch != 2 || o.Slot != 70 {
		t.Errorf("behind a range that is not its record's last the walk stands at %+v", *o)
	}
	second := fetch.Batch{
		Partition: 1, Shift: 12, From: 0, Next: 6, LeaderEpoch: 9, Records: recordsAt(8, 1, 4),
		Epochs: []fetch.Epoch{{Base: 0, Leader: 8}, {Base: 5, Leader: 9}},
		Order: &fetch.Order{Record: 4, LeaderEpoch: 3, Slot: 71, End: 8, Epoch: 9, Done: &fetch.Done{
			Slot: 75, Parts: []fetch.Reach{{Partition: 1, End: 8, Epoch: 9}, {Partition: 4, Start: 20, End: 30, Epoch: 2}},
		}},
	}
	if err := w.Take(&second, func() int64 { return 12 + 3 }); err != nil {
		t.Fatal(err)
	}
	at := state.Position{Next: 15, LeaderEpoch: -1, Step: 3, Order: &state.Ordered{
		Next: 4, LeaderEpoch: 3, Slot: 71, Parts: []state.OrderedPart{
			{Partition: 0, Next: 10, End: 10, LeaderEpoch: 4, Ordered: 4},
			{Partition: 1, Next: 3, End: 8, LeaderEpoch: 8, Ordered: 9},
			{Partition: 2, Next: 505, End: 509, LeaderEpoch: 6, Ordered: 6},
		},
	}}
	if !w.Position.Equal(at) {
		t.Errorf("within an order record the walk stands at %+v, want %+v", *w.Position.Order, *at.Order)
	}
	second.From, second.Records = 3, second.Records[1:]
	if err := w.Take(&second, everything); err != nil {
		t.Fatal(err)
	}
	at.Next, at.Step, at.Order.Next, at.Order.Slot = 18, 4, 5, 75
	at.Order.Set(state.OrderedPart{Partition: 1, Next: 6, End: 8, LeaderEpoch: 9, Ordered: 9})
	at.Order.Set(state.OrderedPart{Partition: 4, Next: 20, End: 30, LeaderEpoch: -1, Ordered: 2})
	if !w.Position.Equal(at) {
		t.Errorf("behind an order record the walk stands at %+v, want %+v", *w.Position.Order, *at.Order)
	}
	nothing := fetch.Batch{Partition: -1, From: 18, Next: 18, LeaderEpoch: -1}
	if err := w.Take(&nothing, everything); err != nil || !w.Position.Equal(at) {
		t.Errorf("nothing moves a walk: %v", err)
	}
	nothing.Order = &fetch.Order{Record: 9, LeaderEpoch: 5, Slot: 80, Done: &fetch.Done{Slot: 81}}
	at.Order.Next, at.Order.LeaderEpoch, at.Order.Slot = 10, 5, 81
	if err := w.Take(&nothing, everything); err != nil || !w.Position.Equal(at) {
		t.Errorf("behind an order record without a batch the walk stands at %+v, want %+v", *w.Position.Order, *at.Order)
	}
	var covered []string
	for _, m := range *moved {
		covered = append(covered, strings.Split(m, ":")[0])
	}
	if got := slices.Compact(covered); !slices.Equal(got, []string{"2", "1"}) || (*moved)[len(*moved)-1] != "1: 5 to 6" {
		t.Errorf("moved %q", *moved)
	}
	want := []string{
		"2/500/6 key= null=false", "2/502/6 key= null=false", "1/1/8 key= null=false", "1/4/8 key= null=false",
	}
	if !slices.Equal(w.machine.saw, want) {
		t.Errorf("saw %q, want %q", w.machine.saw, want)
	}
}

// TestWalkRefusesAnotherPlace checks that batches are refused that do not continue the merged log or their own
// partition, or that have no position in the order log.
func TestWalkRefusesAnotherPlace(t *testing.T) {
	o := &fetch.Order{Record: 3}
	for name, b := range map[string]fetch.Batch{
		"merged offset":     {Partition: 0, Shift: -2, From: 10, Next: 11, Order: o},
		"partition's place": {Partition: 0, Shift: -4, From: 11, Next: 12, Order: o},
		"no order":          {Partition: 0, Shift: -3, From: 10, Next: 11},
	} {
		func() {
			defer func() {
				if r, _ := recover().(string); !strings.HasPrefix(r, "BUG: pipeline: ") {
					t.Errorf("%s: %q", name, r)
				}
			}()
			w, _ := wholeOf(t)
			_ = w.Take(&b, everything)
			t.Errorf("%s: taken", name)
		}()
	}
	defer func() {
		if r, _ := recover().(string); !strings.Contains(r, "a batch of partition 1 in the stream of partition 0") {
			t.Errorf("%q", r)
		}
	}()
	_ = walkOf(t, nil, 0).Take(&fetch.Batch{Partition: 1, From: 10, Next: 11}, everything)
	t.Error("a batch of another partition is taken")
}
