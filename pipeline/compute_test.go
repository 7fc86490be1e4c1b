package pipeline

import (
	"slices"
	"testing"
	"testing/synctest"

	"oriel/pipeline/kafka/fetch"
	"oriel/pipeline/kafka/group"
	"oriel/pipeline/kafka/records"
	"oriel/pipeline/streams"
	"oriel/pipeline/transaction"
	"oriel/state"
)

// TestComputingWaitsForMemory checks that the computer takes no more records while decisions that are not acknowledged
// fill all memory. It continues when a batch of the other transaction is acknowledged, or when that transaction is
// committed. If the other transaction is empty, the full one closes.
func TestComputingWaitsForMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := records.NewPool()
		committing, filled := transaction.New(pool), transaction.New(pool)
		line := make([]byte, 100_000)
		for range 30 {
			committing.Decide(0, nil, line, 1)
		}
		filled.Decide(0, nil, line, 1)
		free := make(chan *transaction.Transaction, 2)
		c := &computer{
			Builder: &transaction.Builder{Walk: &streams.Walk{}, Transaction: filled}, free: free, memory: pool.Bytes(),
			input: 1,
		}
		asked := make(chan struct{})
		full := func() {
			c.handFull()
			asked <- struct{}{}
		}
		passed := func() bool {
			synctest.Wait()
			select {
			case <-asked:
				return true
			default:
				return false
			}
		}
		go full()
		if passed() {
			t.Error("more is taken than there is memory for")
		}
		sent := committing.Decisions[0].Batches()[0]
		committing.Decisions[0].Reset() // as after the broker's acknowledgement
		if sent.Count() != 0 || !passed() {
			t.Error("memory of what is acknowledged is not taken")
		}
		if len(filled.Decisions[0].Batches()) != 1 {
			t.Error("what has room is handed on")
		}
		c.memory = pool.Bytes()
		go full()
		if passed() {
			t.Error("a full transaction passes while the other one commits")
		}
		free <- committing
		if !passed() || len(free) != 1 {
			t.Error("a full transaction waits for an idle committer")
		}
		c.memory, filled.Taken = 1, 1
		<-free
		go full()
		if !passed() { // full must hand the transaction over without waiting
			t.Error("what is over enough input waits for memory")
		}
	})
}

// TestATransactionKeepsItsPlace checks a whole topic's stream, which continues while a transaction commits. The
// transaction must keep the position and the group's offsets of the moment when it closed.
func TestATransactionKeepsItsPlace(t *testing.T) {
	sealer, err := state.NewIncarnation(state.Incarnation{Stream: "trips", Order: &state.Ordered{}}).Sealer()
	if err != nil {
		t.Fatal(err)
	}
	at := state.Position{LeaderEpoch: -1, Order: &state.Ordered{LeaderEpoch: -1, Parts: []state.OrderedPart{
		{Partition: 0, Next: 5, End: 5, LeaderEpoch: -1, Ordered: -1},
		{Partition: 1, Next: 8, End: 8, LeaderEpoch: -1, Ordered: -1},
	}}}
	opened := at.Clone()
	b := transaction.NewBuilder(openStream(t), 0, at, sealer, nil)
	var closed []*transaction.Transaction
	for p, from := range []int64{5, 8} {
		b.Transaction = transaction.New(records.NewPool())
		batch := &fetch.Batch{
			Partition: int32(p), Shift: b.Position.Next - from, From: from, Next: from + 2,
			Order: &fetch.Order{Record: int64(p), End: from + 2, Done: &fetch.Done{}},
		}
		if err := b.Take(batch, func() int64 { return streams.Untaken }); err != nil {
			t.Fatal(err)
		}
		b.SkipTo()
		b.Close()
		closed = append(closed, b.Transaction)
	}
	if !at.Equal(opened) {
		t.Errorf("the committed position has become %+v", *at.Order)
	}
	for p, tx := range closed {
		want := []group.Offset{{Partition: int32(p), Offset: []int64{7, 10}[p]}}
		at, next := tx.Position, int64(p+1)
		if at.Next != 2*next || at.Order.Next != next || !slices.Equal(tx.Offsets, want) {
			t.Errorf("transaction %d is at %d, %+v, with the offsets %+v", p, at.Next, *at.Order, tx.Offsets)
		}
	}
}
