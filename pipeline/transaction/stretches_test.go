package transaction

import (
	"math/rand/v2"
	"slices"
	"testing"

	"oriel/pipeline/kafka/group"
	"oriel/state"
)

// offset is a partition of the input and an offset in it.
type offset struct {
	partition int32
	at        int64
}

// each lists the single offsets in a list of stretches.
func each(stretches []state.Stretch) (all []offset) {
	for _, s := range stretches {
		for at := s.From; at < s.To; at++ {
			all = append(all, offset{s.Partition, at})
		}
	}
	return all
}

// TestStretchesAreOffsets checks stretches against a list of single offsets: those that a transaction collected, and
// every part that Within returns.
func TestStretchesAreOffsets(t *testing.T) {
	draw := rand.New(rand.NewPCG(3, 5))
	for range 300 {
		var tx Transaction
		var want []offset
		next := map[int32]int64{}
		for range 1 + draw.IntN(8) {
			p, n := int32(draw.IntN(3)), int64(1+draw.IntN(4))
			tx.move(p, next[p], next[p]+n)
			for range n {
				want = append(want, offset{p, next[p]})
				next[p]++
			}
		}
		if got := each(tx.stretches); !slices.Equal(got, want) {
			t.Fatalf("stretches %v are the offsets %v, want %v", tx.stretches, got, want)
		}
		for i, s := range tx.stretches[1:] {
			if before := tx.stretches[i]; before.Partition == s.Partition && before.To == s.From {
				t.Fatalf("%v and %v are one", before, s)
			}
		}
		skip := draw.IntN(len(want) + 1)
		n := draw.IntN(len(want) - skip + 1)
		if got := each(Within(tx.stretches, int64(skip), int64(n))); !slices.Equal(got, want[skip:skip+n]) {
			t.Fatalf("%d offsets behind %d of %v are %v", n, skip, tx.stretches, got)
		}
	}
}

// TestOffsetsOfTakenPartitionsAreCommitted checks that a transaction of a whole topic commits the group's offsets of
// the partitions whose events it has taken, and of all partitions if it has taken none.
func TestOffsetsOfTakenPartitionsAreCommitted(t *testing.T) {
	at := func(next ...int64) (p state.Position) {
		p.Order = new(state.Ordered)
		for partition, n := range next {
			p.Order.Set(state.OrderedPart{Partition: int32(partition), Next: n})
		}
		return p
	}
	for _, c := range []struct {
		since, to state.Position
		want      []group.Offset
	}{
		{at(3, 4), at(3, 7), []group.Offset{{Partition: 1, Offset: 7}}},
		{at(3), at(3, 7, 2), []group.Offset{{Partition: 1, Offset: 7}, {Partition: 2, Offset: 2}}},
		{at(3, 4), at(3, 4), []group.Offset{{Partition: 0, Offset: 3}, {Partition: 1, Offset: 4}}},
		{state.Position{Next: 3}, state.Position{Next: 5}, []group.Offset{{Partition: 6, Offset: 5}}},
	} {
		tx := Transaction{Offsets: []group.Offset{{Partition: 9, Offset: 9}}}
		if tx.setOffsets(6, c.since, c.to); !slices.Equal(tx.Offsets, c.want) {
			t.Errorf("offsets %v, want %v", tx.Offsets, c.want)
		}
	}
}
