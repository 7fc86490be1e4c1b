package pipetest_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"oriel/pipeline/kafka/fetch"
	"oriel/pipeline/kafka/records"
	"oriel/pipeline/notice"
	"oriel/pipeline/pipetest"
	"oriel/pipeline/pipetest/logtest"
	"oriel/pipeline/pipetest/simtest"
	"oriel/schemas/decision"
)

// TestTheNewestCommittedDecisionIsReported checks that the newest decision is reported once after each commit with
// decisions. It must not be reported if the transaction was aborted, nor again after a restart.
func TestTheNewestCommittedDecisionIsReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, s := simtest.New(t), pipetest.NewSetup()
		client := d.Client()
		if err := s.Prepare(t.Context(), client, 1); err != nil {
			t.Fatal(err)
		}
		var mu sync.Mutex
		var told []uint64
		s.Listener.Decided = func(p int32, newest notice.Decided) {
			published, err := logtest.Read(context.Background(), client, s.Config.Decisions, 0, -1, fetch.Options{})
			if err != nil || len(published) == 0 {
				t.Errorf("decision %d cannot be read yet: %v", newest.Index, err)
				return
			}
			last, err := decision.Parse(published[len(published)-1].Value)
			if err != nil || p != 0 || newest.Stream != "0" || newest.Index != last.Index || newest.Step != last.Step ||
				!slices.Equal(newest.Point, last.Point) {
				t.Errorf("partition %d: told of %+v, %+v is the last one published: %v", p, newest, last, err)
			}
			mu.Lock()
			defer mu.Unlock()
			told = append(told, newest.Index)
		}
		wants := func(want ...uint64) {
			t.Helper()
			mu.Lock()
			defer mu.Unlock()
			if !slices.Equal(told, want) {
				t.Errorf("told of decisions %v, want %v", told, want)
			}
		}
		send := func(n int) {
			t.Helper()
			if err := logtest.Send(t.Context(), client, s.Config.Input, 0, make([]records.Record, n)...); err != nil {
				t.Fatal(err)
			}
			time.Sleep(2 * time.Second)
		}
		a := d.Start("a", simtest.NewDisk(), s.Run)
		time.Sleep(2 * time.Second)
		wants()
		send(3)
		wants(3)
		a.KillAt(notice.PointProduced, 1)
		send(2)
		wants(3)
		b := d.Start("b", a.Disk(), s.Run)
		time.Sleep(10 * time.Second)
		wants(3, 5)
		if err := b.Stop(); err != nil {
			t.Fatal(err)
		}
		c := d.Start("c", b.Disk(), s.Run)
		time.Sleep(2 * time.Second)
		wants(3, 5)
		if err := c.Stop(); err != nil {
			t.Fatal(err)
		}
	})
}
