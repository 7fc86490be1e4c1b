package pipeline

import (
	"testing"
	"testing/synctest"

	"oriel/pipeline/kafka/records"
	"oriel/pipeline/streams"
	"oriel/pipeline/transaction"
)

// TestComputingWaitsForMemory: with as much computed and not acknowledged as there is memory for, nothing more is taken
// until a batch of the other transaction is acknowledged, or it is committed; a transaction that is alone closes.
func TestComputingWaitsForMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := records.NewPool()
		committing, filled := transaction.New(pool, false), transaction.New(pool, false)
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
			c.handFull(0)
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
		committing.Decisions[0].Reset() // acknowledged
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
		if !passed() { // and hands on
			t.Error("what is over enough input waits for memory")
		}
	})
}
