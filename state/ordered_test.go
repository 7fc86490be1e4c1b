package state

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestOrderedIsASortedMap checks, for any set of partitions, that Part finds each of them, and no other partition.
func TestOrderedIsASortedMap(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 200 {
		var o Ordered
		twin := map[int32]OrderedPart{}
		for range r.IntN(30) {
			part := OrderedPart{Partition: r.Int32N(12), Next: r.Int64N(100)}
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
