package state

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestPlacesAreOrdered checks that the slot decides between two places of steps by the clock, and only then the offset.
// Steps by count have slots too, but no place has them.
func TestPlacesAreOrdered(t *testing.T) {
	position := func(clock bool, slot, next int64) Position {
		return Position{Next: next, Order: &Ordered{Clock: clock, Slot: slot}}
	}
	ascending := []Position{
		position(true, 60, 7), position(true, 60, 8), position(true, 61, 8), position(true, 120, 8), position(true, 120, 9),
	}
	for i, a := range ascending {
		for j, b := range ascending {
			if got, want := a.Place().Compare(b.Place()), min(max(i-j, -1), 1); got != want {
				t.Errorf("%v against %v: %d, want %d", a.Place(), b.Place(), got, want)
			}
		}
	}
	for _, p := range []Position{position(false, 60, 7), {Next: 7}} {
		if p.Place() != (Place{Next: 7}) || p.Place().String() != "offset 7" {
			t.Errorf("by count: %v", p.Place())
		}
	}
	if got, want := position(true, 1795000000, 7).Place().String(), "offset 7 at 2026-11-18T11:06:40Z"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestOrderedIsASortedMap checks, for any set of partitions, that Part finds each of them, and no other partition.
func TestOrderedIsASortedMap(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 200 {
		var o Ordered
		twin := map[int32]OrderedPart{}
		for range r.IntN(30) {
			part := OrderedPart{Partition: r.Int32N(12), Next: r.Int64N(100), End: 100}
			o.Set(part)
			twin[part.Partition] = part
		}
		if parts := slices.Sorted(maps.Keys(twin)); len(parts) != len(o.Parts) || !o.valid() {
			t.Fatalf("the partitions %v have the places %+v", parts, o.Parts)
		}
		for p := int32(-1); p < 13; p++ {
			want, is := twin[p]
			if !is {
				want = OrderedPart{Partition: p, LeaderEpoch: -1, Ordered: -1}
			}
			if got, ok := o.Part(p); ok != is || got != want {
				t.Errorf("partition %d has %+v, want %+v", p, got, want)
			}
		}
	}
}
