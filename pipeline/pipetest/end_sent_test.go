package pipetest_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"oriel/pipeline/changelog"
	"oriel/pipeline/deployment"
	"oriel/pipeline/kafka/records"
	"oriel/pipeline/kafka/topics"
	"oriel/pipeline/notice"
	"oriel/pipeline/pipetest"
	"oriel/pipeline/pipetest/logtest"
	"oriel/pipeline/pipetest/simtest"
)

// TestTheEndSeesDecisionsWithoutStatuses kills a process that has sent the decisions of a transaction, and no row of
// statuses of it yet. Readers of uncommitted records may have seen the decisions, so the end is refused.
func TestTheEndSeesDecisionsWithoutStatuses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, s := simtest.New(t), pipetest.NewSetup()
		if err := s.Prepare(t.Context(), d.Client(), 1); err != nil {
			t.Fatal(err)
		}
		old := d.Start("old", simtest.NewDisk(), s.Run)
		send(t, d, s, 0, 2)
		time.Sleep(10 * time.Second)
		d.Fail(simtest.Fault{
			Kind: simtest.Kind{API: "Produce", Topic: s.Config.Verdicts}, Effect: simtest.Cut, Count: -1,
		})
		send(t, d, s, 0, 4)
		time.Sleep(time.Second)
		old.Kill()
		d.Mend()
		if sent := decided(t, d, "late.decisions", 0, true); len(sent) <= 2 {
			t.Fatalf("sent %v", sent)
		}
		at, err := end(t.Context(), d.Client(), s, false)
		if err == nil || !strings.Contains(err.Error(), "oriel end --skip") {
			t.Errorf("ends at %v: %v", at, err)
		}
		if at, err := end(t.Context(), d.Client(), s, true); err != nil || at[0] != 6 {
			t.Errorf("ends at %v: %v", at, err)
		}
	})
}

// TestTheEndSeesAnAbortedTransactionThatReachedFurther kills a process that has sent the decisions of four events in
// one transaction. The next process commits a shorter transaction and dies. Its decisions, rows and offsets agree with
// each other, but readers of uncommitted records may have seen decisions of later events. So the end is refused.
func TestTheEndSeesAnAbortedTransactionThatReachedFurther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, s := simtest.New(t), pipetest.NewSetup()
		s.Config.TransactionBytes = 16 << 20
		if err := s.Prepare(t.Context(), d.Client(), 1); err != nil {
			t.Fatal(err)
		}
		first := d.Start("first", simtest.NewDisk(), s.Run)
		time.Sleep(10 * time.Second)
		d.Fail(simtest.Fault{
			Kind: simtest.Kind{API: "Produce", Topic: s.Config.Verdicts}, Effect: simtest.Cut, Count: -1,
		})
		large := make([]records.Record, 4)
		for i := range large {
			large[i].Value = make([]byte, 600<<10)
		}
		if err := logtest.Send(t.Context(), d.Client(), s.Config.Input, 0, large...); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		first.Kill()
		d.Mend()
		s.Config.TransactionBytes = 1 << 20
		second := d.Start("second", simtest.NewDisk(), s.Run)
		second.KillAt(notice.PointEnded, 1)
		<-second.Done()
		committed, sent := decided(t, d, "late.decisions", 0, false), decided(t, d, "late.decisions", 0, true)
		if len(committed) == 0 || slices.Max(committed) >= slices.Max(sent) {
			t.Fatalf("committed %v, sent %v", committed, sent)
		}
		at, err := end(t.Context(), d.Client(), s, false)
		if err == nil || !strings.Contains(err.Error(), "oriel end --skip") {
			t.Errorf("ends at %v: %v", at, err)
		}
		if err := works(t, d, s); err != nil {
			t.Fatal(err)
		}
		if at, err := end(t.Context(), d.Client(), s, false); err != nil || at[0] != 4 {
			t.Errorf("ends at %v: %v", at, err)
		}
	})
}

// TestTheEndLooksAtEachPartitionOfAStream sets the group back in one partition of a whole topic, to which the last row
// of statuses does not belong. The decisions of its events are public, so the end is refused.
func TestTheEndLooksAtEachPartitionOfAStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, s := simtest.New(t), pipetest.NewSetup().WholeTopic()
		if err := s.Prepare(t.Context(), d.Client(), 2); err != nil {
			t.Fatal(err)
		}
		for p, n := range []int{5, 3} {
			send(t, d, s, int32(p), n)
			if err := works(t, d, s); err != nil {
				t.Fatal(err)
			}
		}
		if err := logtest.AlterOffset(t.Context(), d.Client(), "late", "trips", 0, 2); err != nil {
			t.Fatal(err)
		}
		at, err := end(t.Context(), d.Client(), s, false)
		if err == nil || !strings.Contains(err.Error(), "oriel end --skip") {
			t.Errorf("ends at %v: %v", at, err)
		}
		if at, err := end(t.Context(), d.Client(), s, true); err != nil || at[0] != 5 || at[1] != 3 {
			t.Errorf("ends at %v: %v", at, err)
		}
	})
}

// TestTheEndMissesLostEvidence sets the group back after a topic that would show it is lost. The end is refused, unless
// the group is at the end of the input, where it makes no difference.
func TestTheEndMissesLostEvidence(t *testing.T) {
	for name, loses := range map[string]func(c *deployment.Config){
		"decisions": func(c *deployment.Config) { c.Decisions = "late.gone" },
		"verdicts":  func(c *deployment.Config) { c.Verdicts = "late.gone" },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d, s := simtest.New(t), pipetest.NewSetup()
				if err := s.Prepare(t.Context(), d.Client(), 1); err != nil {
					t.Fatal(err)
				}
				send(t, d, s, 0, 5)
				if err := works(t, d, s); err != nil {
					t.Fatal(err)
				}
				loses(&s.Config)
				send(t, d, s, 0, 1)
				at, err := end(t.Context(), d.Client(), s, false)
				if err == nil || !strings.Contains(err.Error(), "oriel end --skip") {
					t.Errorf("ends at %v: %v", at, err)
				}
				if err := logtest.AlterOffset(t.Context(), d.Client(), "late", "trips", 0, 6); err != nil {
					t.Fatal(err)
				}
				if at, err := end(t.Context(), d.Client(), s, false); err != nil || at[0] != 6 {
					t.Errorf("ends at %v: %v", at, err)
				}
			})
		})
	}
}

// TestTheEndSeesAddedStreams adds a stream after the end has looked at the topics. Its process must not go on.
func TestTheEndSeesAddedStreams(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, s := simtest.New(t), pipetest.NewSetup()
		if err := s.Prepare(t.Context(), d.Client(), 1); err != nil {
			t.Fatal(err)
		}
		described, err := deployment.DescribeTopics(t.Context(), d.Client(), s.Config)
		if err != nil {
			t.Fatal(err)
		}
		if err := topics.AddPartitions(t.Context(), d.Client(), "trips", 2); err != nil {
			t.Fatal(err)
		}
		send(t, d, s, 1, 3)
		if err := works(t, d, s); err != nil {
			t.Fatal(err)
		}
		at, err := changelog.Deployment{Client: d.Client(), Config: s.Config, Topics: described}.End(t.Context(), false)
		if want := (deployment.Offsets{0: 0, 1: 3}); err != nil || !maps.Equal(at, want) {
			t.Errorf("ends at %v, want %v: %v", at, want, err)
		}
		send(t, d, s, 1, 1)
		if err := works(t, d, s); err == nil || !strings.Contains(err.Error(), "this deployment was ended for good") {
			t.Errorf("an added stream goes on: %v", err)
		}
	})
}

// TestTheEndNeedsTheStreamsOfTheDeployment ends a deployment with a stream for each partition as if it had one stream.
// Its other streams would go on, so this is refused.
func TestTheEndNeedsTheStreamsOfTheDeployment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, s := simtest.New(t), pipetest.NewSetup()
		if err := s.Prepare(t.Context(), d.Client(), 2); err != nil {
			t.Fatal(err)
		}
		at, err := end(t.Context(), d.Client(), s.WholeTopic(), false)
		if err == nil || !strings.Contains(err.Error(), "the other streams would go on") {
			t.Errorf("ends at %v: %v", at, err)
		}
	})
}
