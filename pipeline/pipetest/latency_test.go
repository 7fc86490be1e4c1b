package pipetest_test

import (
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"oriel/pipeline/kafka/records"
	"oriel/pipeline/notice"
	"oriel/pipeline/pipetest"
	"oriel/pipeline/pipetest/logtest"
	"oriel/pipeline/pipetest/simtest"
)

// TestAWholeTopicWaitsForOneCommit checks that an event of a whole topic's stream is committed about one interval after
// it was sent, like an event of a partition's stream. It would take half an interval longer if order records were not
// synchronised with commits.
func TestAWholeTopicWaitsForOneCommit(t *testing.T) {
	for name, c := range map[string]struct {
		order    string
		interval time.Duration
		most     time.Duration // limit of the median beyond the commit interval
	}{
		"a partition":                {"", 100 * time.Millisecond, 0},
		"a whole topic":              {"late.order", 100 * time.Millisecond, 40 * time.Millisecond},
		"a whole topic, each second": {"late.order", time.Second, 40 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d, s := simtest.New(t), pipetest.NewSetup()
				s.Config.Order, s.Config.CommitInterval = c.order, c.interval
				client := d.Client()
				if err := s.Prepare(t.Context(), client, 3); err != nil {
					t.Fatal(err)
				}
				var mu sync.Mutex
				var taken int
				var at []time.Time // commit time of the n-th event
				s.Listener.Committed = func(c notice.Commit) {
					mu.Lock()
					defer mu.Unlock()
					for taken += c.Records; len(at) < taken; {
						at = append(at, time.Now())
					}
				}
				a := d.Start("a", simtest.NewDisk(), s.Run)
				time.Sleep(3 * time.Second)
				var sent []time.Time
				for i := range 100 {
					p := int32(i % 3)
					if c.order == "" {
						p = 0 // commits of partition 0 show which events they contain, in order
					}
					sent = append(sent, time.Now())
					if err := logtest.Send(t.Context(), client, s.Config.Input, p, records.Record{}); err != nil {
						t.Fatal(err)
					}
					time.Sleep(c.interval * 37 / 100)
				}
				time.Sleep(3 * time.Second)
				if err := a.Stop(); err != nil {
					t.Fatal(err)
				}
				if len(at) != len(sent) {
					t.Fatalf("%d events committed, %d were sent", len(at), len(sent))
				}
				waited := make([]time.Duration, len(sent))
				for i := range sent {
					waited[i] = at[i].Sub(sent[i])
				}
				slices.Sort(waited)
				t.Logf("interval %v: median %v, longest %v", c.interval, waited[50], waited[99])
				if waited[50] > c.interval+c.most || waited[99] > 2*c.interval {
					t.Errorf("median %v, longest %v", waited[50], waited[99])
				}
			})
		})
	}
}
