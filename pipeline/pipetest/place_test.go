package pipetest_test

import (
	"slices"
	"testing"

	"oriel/pipeline/kafka/fetch"
	"oriel/pipeline/kafka/group"
	"oriel/pipeline/kafka/records"
	"oriel/pipeline/pipetest"
	"oriel/pipeline/streams"
	"oriel/pipeline/transaction"
	"oriel/state"
)

// TestATransactionKeepsItsPlace checks that a transaction keeps its position in a whole topic's order while the walk
// continues. It must commit the group's offsets only in the partitions whose events it has taken.
func TestATransactionKeepsItsPlace(t *testing.T) {
	stream, err := streams.OpenStream(pipetest.NewSetup().Model, nil, [32]byte{1}, [32]byte{}, "trips", [16]byte{})
	if err != nil {
		t.Fatal(err)
	}
	sealer, err := state.NewIncarnation(state.Incarnation{Stream: "trips"}).Sealer()
	if err != nil {
		t.Fatal(err)
	}
	at := state.Position{LeaderEpoch: -1, Order: &state.Ordered{LeaderEpoch: -1}}
	b := transaction.NewBuilder(stream, 0, at, sealer, nil)
	var all []*transaction.Transaction
	for i, moved := range [][]int32{{0, 2}, {2}, {1}} {
		b.Transaction = transaction.New(records.NewPool())
		for j, p := range moved {
			place, _ := b.Position.Order.Part(p)
			batch := &fetch.Batch{
				Partition: p, From: place.Next, Next: place.Next + 5, Shift: b.Position.Next - place.Next,
				Order: &fetch.Order{Record: int64(i), End: place.Next + 5, Epoch: 3},
			}
			if j == len(moved)-1 {
				batch.Order.Done = new(fetch.Done)
			}
			if err := b.Take(batch, func() int64 { return streams.Untaken }); err != nil {
				t.Fatal(err)
			}
		}
		b.SkipTo()
		b.Close()
		all = append(all, b.Transaction)
	}
	for i, want := range []struct {
		next, record int64
		offsets      []group.Offset
	}{
		{10, 1, []group.Offset{{Partition: 0, Offset: 5}, {Partition: 2, Offset: 5}}},
		{15, 2, []group.Offset{{Partition: 2, Offset: 10}}},
		{20, 3, []group.Offset{{Partition: 1, Offset: 5}}},
	} {
		tx := all[i]
		if tx.Position.Next != want.next || tx.Position.Order.Next != want.record || !slices.Equal(tx.Offsets, want.offsets) {
			t.Errorf("transaction %d: %+v, %+v, offsets %v, want %+v", i, tx.Position, tx.Position.Order, tx.Offsets, want)
		}
	}
}
