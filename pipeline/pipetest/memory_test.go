package pipetest_test

import (
	"testing"
	"testing/synctest"
	"time"

	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/memory"
	"oriel/pipeline/pipetest"
	"oriel/pipeline/pipetest/simtest"
)

// TestATakeOverHoldsOneBatch checks that a process with memory for one batch can continue from its local store. It must
// not hold a changelog record while it waits for memory to read another: this would be a deadlock. With more memory,
// the deadlock would hit processes that take over enough partitions at once.
func TestATakeOverHoldsOneBatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, s := simtest.New(t), pipetest.NewSetup()
		s.Client = func(c *kafka.Config) { c.Budget = memory.NewBudget(1) }
		if err := s.Prepare(t.Context(), d.Client(), 1); err != nil {
			t.Fatal(err)
		}
		a := d.Start("a", simtest.NewDisk(), s.Run)
		time.Sleep(2 * time.Second)
		if err := a.Stop(); err != nil {
			t.Fatal(err)
		}
		b := d.Start("b", a.Disk(), s.Run)
		send(t, d, s, 0, 3)
		time.Sleep(5 * time.Second)
		wantTaken(t, d, s, 0, 3)
		if err := b.Stop(); err != nil {
			t.Error(err)
		}
	})
}
