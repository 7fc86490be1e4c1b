package pipetest_test

import (
	"testing"
	"testing/synctest"
	"time"

	"oriel/pipeline/kafka/topics"
	"oriel/pipeline/pipetest"
	"oriel/pipeline/pipetest/simtest"
)

// TestRetentionDuringATakeOver checks a take-over during which records of the verdict topic are deleted, between the
// lookup of its bounds and the fetch. The partition must not stop with an error that the input has lost events.
func TestRetentionDuringATakeOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, s := simtest.New(t), pipetest.NewSetup()
		if err := s.Prepare(t.Context(), d.Client(), 1); err != nil {
			t.Fatal(err)
		}
		a := d.Start("a", simtest.NewDisk(), s.Run)
		for range 3 {
			send(t, d, s, 0, 3)
			time.Sleep(time.Second)
		}
		if err := a.Stop(); err != nil {
			t.Fatal(err)
		}
		d.Fail(simtest.Fault{
			Kind: simtest.Kind{API: "Fetch", Topic: s.Config.Verdicts, Partition: simtest.AnyPartition}, Count: 1,
			Effect: simtest.Late(3 * time.Second),
		})
		b := d.Start("b", simtest.NewDisk(), s.Run)
		time.Sleep(2 * time.Second)
		bounds, err := topics.BoundsOf(t.Context(), d.Client(), s.Config.Verdicts, 0)
		if err != nil {
			t.Fatal(err)
		}
		if err := topics.DeleteRecords(t.Context(), d.Client(), s.Config.Verdicts, 0, bounds.Stable); err != nil {
			t.Fatal(err)
		}
		send(t, d, s, 0, 3)
		time.Sleep(30 * time.Second)
		wantTaken(t, d, s, 0, 12)
		if err := b.Stop(); err != nil {
			t.Error(err)
		}
	})
}
