package pipetest_test

import (
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"oriel/pipeline/kafka/produce"
	"oriel/pipeline/kafka/records"
	"oriel/pipeline/kafka/topics"
	"oriel/pipeline/notice"
	"oriel/pipeline/order"
	"oriel/pipeline/pipetest"
	"oriel/pipeline/pipetest/logtest"
	"oriel/pipeline/pipetest/simtest"
	"oriel/state"
)

// TestAWholeTopicThatLostSomethingIsRefused checks losses that could each cause a second history, or a gap in the
// history.
func TestAWholeTopicThatLostSomethingIsRefused(t *testing.T) {
	reset := func(w *whole, by map[int32]int64) {
		for p, n := range by {
			w.check(logtest.AlterOffset(w.t.Context(), w.Client(), w.setup.Config.Group, w.setup.Config.Input, p, 7+n))
		}
	}
	for _, c := range []struct {
		name, says, helps string
		happens           func(w *whole)
	}{
		{
			"a group that was reset", "the group stands at 3, the state at 7 in partition 1",
			"--topic trips:1 --reset-offsets --to-offset 7",
			func(w *whole) { reset(w, map[int32]int64{1: -4}) },
		},
		{
			"a group that was reset to as many offsets", "the group stands at 4, the state at 7 in partition 0",
			"trips:0 --reset-offsets --to-offset 7 --execute; kafka-consumer-groups.sh --group late --topic trips:2 --reset",
			func(w *whole) { reset(w, map[int32]int64{0: -3, 2: 3}) },
		},
		{
			"events that were deleted", "partition 2 of the input starts at 9, the state needs 7", "keep events longer",
			func(w *whole) {
				w.send(2, 5)
				w.check(topics.DeleteRecords(w.t.Context(), w.Client(), w.setup.Config.Input, 2, 9))
			},
		},
		{"an order log that was made again", `"late.order" was deleted and made again`, "new deployment", func(w *whole) {
			w.check(logtest.Delete(w.t.Context(), w.Client(), w.setup.Config.Order))
			w.check(topics.Create(w.t.Context(), w.Client(), w.setup.Config.Order, 1, 1, map[string]string{
				"cleanup.policy": "delete", "retention.ms": "-1", "retention.bytes": "-1",
				"message.timestamp.type": "LogAppendTime",
			}))
		}},
		{"order records that were deleted", `the order log "late.order" starts at`, "Restore the order log", func(w *whole) {
			w.order(order.Entry{Partition: 0, End: 7}, order.Entry{Partition: 0, End: 7})
			end, err := topics.BoundsOf(w.t.Context(), w.Client(), w.setup.Config.Order, 0)
			w.check(err)
			w.check(topics.DeleteRecords(w.t.Context(), w.Client(), w.setup.Config.Order, 0, end.High))
		}},
		{"an order log that was compacted", "it was compacted", "cleanup.policy to delete", func(w *whole) {
			for i := range byte(4) {
				var b records.Builder
				b.Append([]byte{min(i, 1)}, nil, nil, time.Now().UnixMilli())
				_, err := produce.Append(w.t.Context(), w.Client(), w.setup.Config.Order, 0, &b)
				w.check(err)
			}
			for _, policy := range []string{"compact", "delete"} {
				w.check(logtest.Alter(w.t.Context(), w.Client(), w.setup.Config.Order, map[string]string{"cleanup.policy": policy}))
				time.Sleep(5 * time.Second) // brokers delete the records in this time
			}
		}},
		{
			"an order log that does not reach what was taken", "the log puts 21 offsets of the input in order, but 24 were taken",
			"Restore the order log", func(w *whole) { w.row(21, state.Stretch{Partition: 0, From: 7, To: 10}) },
		},
		{
			"an input that does not reach what is in order", "partition 1 now ends at 7, and the order log has it up to 12",
			"Acknowledged events were lost", func(w *whole) { w.order(order.Entry{Partition: 1, End: 12}) },
		},
		{
			"an input that has others where it was put in order",
			"partition 1 now ends at 7, and the order log has it up to 10", "Acknowledged events were lost",
			func(w *whole) { // the second leader appended three events that the third leader lacks
				for range 2 {
					w.check(w.MoveLeader(w.setup.Config.Input, 1, 0))
				}
				w.order(order.Entry{Partition: 1, End: 10, Epoch: w.epochs()[1] - 1})
				w.send(1, 3)
			},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWhole(t, pipetest.NewSetup(), 3, 1)
				a := w.Start("a", simtest.NewDisk(), w.setup.Run)
				for p := range 3 {
					w.send(p, 7)
				}
				time.Sleep(3 * time.Second)
				w.check(a.Stop())
				c.happens(w)
				said := w.stopped()
				if !strings.Contains(said, c.says) || !strings.Contains(said, c.helps) {
					t.Errorf("said %q, want %q and %q", said, c.says, c.helps)
				}
				if n := len(w.read(w.setup.Config.Decisions, true)); n != 21 {
					t.Errorf("%d decisions, want 21", n)
				}
			})
		})
	}
}

func (w *whole) check(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// order appends a record for each entry to the order log.
func (w *whole) order(entries ...order.Entry) {
	w.t.Helper()
	d := w.deployment()
	is, err := d.Ordered(w.t.Context())
	w.check(err)
	log := order.Log{Key: is.Key, Topic: d.Topics.Order.ID, Input: d.Topics.Input.ID}
	for _, e := range entries {
		var b records.Builder
		record := order.Record{Slot: time.Now().Unix() - 1, Entries: []order.Entry{e}}
		b.Append(nil, log.Append(nil, record), nil, time.Now().UnixMilli())
		_, err := produce.Append(w.t.Context(), w.Client(), w.setup.Config.Order, 0, &b)
		w.check(err)
	}
}

// epochs returns the leader epochs of the input's partitions.
func (w *whole) epochs() (epochs []int32) {
	w.t.Helper()
	look := topics.NewStableEnds(w.Client(), w.deployment().Topics.Input)
	ends, err := look.Look(w.t.Context(), time.Second)
	look.Wait()
	w.check(err)
	for _, e := range ends {
		epochs = append(epochs, e.Epoch)
	}
	return epochs
}

// row appends a row of statuses that starts at a merged offset.
func (w *whole) row(from int64, s state.Stretch) {
	w.t.Helper()
	sealer, err := sealerOf(w.t.Context(), w.setup, w.Client(), 0)
	w.check(err)
	n := s.To - s.From
	row := state.StatusRow{
		From: state.Place{Next: from}, To: state.Place{Next: from + n},
		Statuses: make([]byte, n), Stretches: []state.Stretch{s},
	}
	var b records.Builder
	b.Append(nil, sealer.SealStatuses(nil, row), nil, time.Now().UnixMilli())
	_, err = produce.Append(w.t.Context(), w.Client(), w.setup.Config.Verdicts, 0, &b)
	w.check(err)
}

// stopped runs a process for a minute, and returns the reason why its stream stops.
func (w *whole) stopped() (said string) {
	w.t.Helper()
	var mu sync.Mutex
	setup := w.setup
	setup.Listener = notice.Listener{Stopped: func(_ int32, err error) {
		mu.Lock()
		defer mu.Unlock()
		said = err.Error()
	}}
	a := w.Start("b", simtest.NewDisk(), setup.Run)
	time.Sleep(time.Minute)
	if a.Alive() {
		_ = a.Stop()
	}
	mu.Lock()
	defer mu.Unlock()
	if found := w.setup.Examine(w.t.Context(), w.Client(), a.Disk()); found == nil || found.Error() != said {
		w.t.Errorf("an examination says %v, and the process %s", found, said)
	}
	return said
}

// TestALeaderThatWroteNothingIsNoLoss checks that a leader which appended no record does not count as a loss. It may
// have reported its partition's end, so that the order log has an epoch that the input lacks.
func TestALeaderThatWroteNothingIsNoLoss(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWhole(t, pipetest.NewSetup(), 3, 3)
		a := w.Start("a", simtest.NewDisk(), w.setup.Run)
		time.Sleep(2 * time.Second)
		checkpoint := w.checkpoint()
		w.send(1, 3)
		time.Sleep(2 * time.Second)
		w.check(a.Stop())
		w.send(1, 4)
		for leader := range int32(2) {
			w.check(w.MoveLeader(w.setup.Config.Input, 1, leader+1))
			time.Sleep(time.Second)
			if leader == 0 {
				w.order(order.Entry{Partition: 1, End: 7, Epoch: w.epochs()[1]})
			}
		}
		b := w.Start("b", simtest.NewDisk(), w.setup.Run)
		time.Sleep(10 * time.Second)
		w.check(b.Stop())
		w.isWhole(checkpoint)
	})
}

// TestElectionsAreNoLoss changes leaders, and takes the stream over before and after each change.
func TestElectionsAreNoLoss(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWhole(t, pipetest.NewSetup(), 3, 3)
		a := w.Start("a", simtest.NewDisk(), w.setup.Run)
		time.Sleep(2 * time.Second)
		checkpoint := w.checkpoint()
		for round := range 6 {
			for p := range 3 {
				w.send(p, 4)
				for range round % 3 {
					w.check(w.MoveLeader(w.setup.Config.Input, int32(p), int32((p+round)%3)))
					w.check(w.MoveLeader(w.setup.Config.Order, 0, int32(round%3)))
				}
			}
			time.Sleep(200 * time.Millisecond)
			if round%2 == 0 {
				a.Kill()
			} else {
				w.check(a.Stop())
			}
			time.Sleep(10 * time.Second)
			a = w.Start("a", a.Disk(), w.setup.Run)
			time.Sleep(10 * time.Second)
		}
		w.isWhole(checkpoint)
	})
}

// TestAPartitionThatIsAddedIsTakenFromItsStart adds a partition while the stream runs, without `oriel topics`.
func TestAPartitionThatIsAddedIsTakenFromItsStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		setup := pipetest.NewSetup()
		w := newWhole(t, setup, 2, 1)
		a := w.Start("a", simtest.NewDisk(), w.setup.Run)
		time.Sleep(2 * time.Second)
		checkpoint := w.checkpoint()
		w.send(0, 3)
		w.check(topics.AddPartitions(t.Context(), w.Client(), w.setup.Config.Input, 4))
		w.sent = append(w.sent, 0, 0)
		w.send(3, 5)
		w.send(1, 2)
		time.Sleep(30 * time.Second)
		a.Kill()
		w.send(2, 5)
		w.Start("b", simtest.NewDisk(), w.setup.Run)
		time.Sleep(20 * time.Second)
		w.send(3, 1)
		time.Sleep(10 * time.Second)
		w.isWhole(checkpoint)
	})
}

// TestAWholeTopicStartsAtTheLatest checks that with start policy latest the stream takes no event from before its
// opening.
func TestAWholeTopicStartsAtTheLatest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		setup := pipetest.NewSetup().Owing(3, 7)
		setup.Config.Start = "latest"
		w := newWhole(t, setup, 3, 1)
		for p := range 3 {
			send(t, w.Deployment, w.setup, int32(p), 4*p)
		}
		a := w.Start("a", simtest.NewDisk(), w.setup.Run)
		a.KillAt(notice.PointProduced, 2) // dies after the opening, before the decisions due then
		time.Sleep(5 * time.Second)
		w.Start("a", a.Disk(), w.setup.Run)
		time.Sleep(10 * time.Second)
		for p := range 3 {
			w.send(p, 6)
		}
		time.Sleep(5 * time.Second)
		covered := w.covered()
		if len(covered) != 18 {
			t.Errorf("statuses of %v, want 18", covered)
		}
		next := map[int32]int64{0: 0, 1: 4, 2: 8}
		for _, o := range covered {
			if o.at != next[o.partition] {
				t.Errorf("partition %d: offset %d after %d", o.partition, o.at, next[o.partition])
			}
			next[o.partition] = o.at + 1
		}
		w.oneHistory(opened{owed: 3, second: 7})
	})
}

// TestATrimmedOrderLogIsTakenOver checks a take-over with an order log that lacks records of events deleted from the
// input.
func TestATrimmedOrderLogIsTakenOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWhole(t, pipetest.NewSetup(), 2, 3)
		a := w.Start("a", simtest.NewDisk(), w.setup.Run)
		time.Sleep(2 * time.Second)
		for i := range 4 {
			w.send(i%2, 3)
			time.Sleep(time.Second)
		}
		for p := range int32(2) {
			w.check(topics.DeleteRecords(t.Context(), w.Client(), w.setup.Config.Input, p, 6))
		}
		time.Sleep(2 * time.Minute)
		bounds, err := topics.BoundsOf(t.Context(), w.Client(), w.setup.Config.Order, 0)
		if err != nil || bounds.Start != bounds.High-1 || bounds.Start == 0 {
			t.Fatalf("the order log has the records %d to %d, %v; want the last one", bounds.Start, bounds.High, err)
		}
		a.Kill()
		w.check(w.MoveLeader(w.setup.Config.Order, 0, 1))
		for range 2 {
			w.Start("b", simtest.NewDisk(), w.setup.Run)
			time.Sleep(10 * time.Second)
			w.send(1, 4)
			time.Sleep(5 * time.Second)
		}
		if n := len(w.read(w.setup.Config.Decisions, false)); n != w.taken {
			t.Errorf("%d decisions, want %d", n, w.taken)
		}
	})
}
