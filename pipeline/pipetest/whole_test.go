package pipetest_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"oriel/mechanisms/mechtest/tiertest"
	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/topics"
	"oriel/pipeline/notice"
	"oriel/pipeline/order"
	"oriel/pipeline/pipetest"
	"oriel/pipeline/pipetest/simtest"
	"oriel/pipeline/replay"
	"oriel/state"
)

// whole is a deployment whose input is one stream. It counts the events of each partition.
type whole struct {
	history
	sent []int
}

func newWhole(t *testing.T, setup pipetest.Setup, partitions, brokers int) *whole {
	t.Helper()
	d := simtest.NewWith(t, simtest.Options{Brokers: brokers})
	w := &whole{history: history{t: t, Deployment: d, setup: setup.WholeTopic()}}
	w.sent = make([]int, partitions)
	if err := w.setup.Prepare(t.Context(), w.Client(), partitions); err != nil {
		t.Fatal(err)
	}
	return w
}

// send appends n events to a partition.
func (w *whole) send(p, n int) {
	w.t.Helper()
	send(w.t, w.Deployment, w.setup, int32(p), n)
	w.sent[p] += n
	w.taken += n
}

// spread appends events to randomly drawn partitions, for a number of ticks.
func (w *whole) spread(draw *rand.Rand, ticks int) {
	w.t.Helper()
	for range ticks {
		for range 1 + draw.IntN(3) {
			w.send(draw.IntN(len(w.sent)), 1+draw.IntN(4))
		}
		time.Sleep(time.Duration(draw.IntN(150)) * time.Millisecond)
	}
}

// offset is a partition of the input and an offset in it.
type offset struct {
	partition int32
	at        int64
}

// ordered returns the offsets of the input in the order of the order log, by an independent implementation of its rule
// for a stream by count whose input has the producers' times.
func (w *whole) ordered() (all []offset) {
	w.t.Helper()
	d := w.deployment()
	is, err := d.Ordered(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	log := order.Log{Key: is.Key, Topic: d.Topics.Order.ID, Input: d.Topics.Input.ID}
	ends, epochs, slot := map[int32]int64{}, map[int32]int32{}, int64(0)
	for _, r := range w.read(w.setup.Config.Order, true) {
		record, err := log.Parse(r.Value)
		if err != nil {
			w.t.Fatal(err)
		}
		if record.Slot < slot || !r.Appended || r.Timestamp < 1000*(record.Slot+1) ||
			slices.ContainsFunc(record.Entries, func(e order.Entry) bool { return e.Epoch < epochs[e.Partition] }) {
			continue
		}
		slot = record.Slot
		for _, e := range record.Entries {
			if e.End <= ends[e.Partition] {
				continue
			}
			for at := ends[e.Partition]; at < e.End; at++ {
				all = append(all, offset{e.Partition, at})
			}
			ends[e.Partition], epochs[e.Partition] = e.End, e.Epoch
		}
	}
	return all
}

// covered returns the offsets of the input that the rows of statuses cover.
func (w *whole) covered() (all []offset) {
	w.t.Helper()
	sealer, err := sealerOf(w.t.Context(), w.setup, w.Client(), 0)
	if err != nil {
		w.t.Fatal(err)
	}
	next := int64(0)
	for _, r := range w.read(w.setup.Config.Verdicts, false) {
		row, err := sealer.OpenStatuses(r.Value)
		if err != nil {
			w.t.Fatal(err)
		}
		if row.From.Next != next {
			w.t.Errorf("statuses from %v to %v follow those up to %d", row.From, row.To, next)
		}
		next = row.To.Next
		for _, s := range row.Stretches {
			for at := s.From; at < s.To; at++ {
				all = append(all, offset{s.Partition, at})
			}
		}
	}
	return all
}

// isWhole checks that each event was taken once, in the order of the order log. Decisions, statuses and the group must
// agree with this order, each decision must have only one value, and the decisions must equal a replay without faults.
func (w *whole) isWhole(checkpoint []byte) {
	w.t.Helper()
	ordered := w.ordered()
	if len(ordered) != w.taken {
		w.t.Fatalf("the order log has %d offsets, want %d", len(ordered), w.taken)
	}
	if covered := w.covered(); !slices.Equal(covered, ordered) {
		w.t.Errorf("statuses cover %v, the order log has %v", covered, ordered)
	}
	want := make([]uint64, w.taken)
	for i := range want {
		want[i] = uint64(i + 1)
	}
	for i, d := range w.committed([2][]uint64{want}) {
		if d.Stream != w.setup.Config.Input {
			w.t.Errorf("decision %d is of the stream %q", i, d.Stream)
		}
		if got := int64(d.Point[1]); got != ordered[d.Index-1].at {
			w.t.Errorf("decision %d is of offset %d, want %v", d.Index, got, ordered[d.Index-1])
		}
	}
	for p, n := range w.sent {
		w.groupAt(int32(p), n)
	}
	n, err := replay.Check(w.t.Context(), w.deployment(), 0, checkpoint, func(int) {})
	if err != nil || n != w.taken {
		w.t.Errorf("%d decisions recomputed, %v; want %d", n, err, w.taken)
	}
}

func (w *whole) checkpoint() []byte {
	w.t.Helper()
	checkpoint, err := replay.Checkpoint(w.t.Context(), w.deployment(), 0)
	if err != nil {
		w.t.Fatal(err)
	}
	return checkpoint
}

// TestWholeTopicIsOneStream plays one stream of several partitions through two processes. One of them is killed at
// every point of a commit; in the short form at two points.
func TestWholeTopicIsOneStream(t *testing.T) {
	for i, point := range []notice.Point{
		notice.PointFenced, notice.PointRestored, notice.PointProduced, notice.PointEnded,
	} {
		if tiertest.Runs(i%2 == 0, false) {
			continue
		}
		t.Run(string(point), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWhole(t, pipetest.NewSetup(), 5, 1)
				draw := rand.New(rand.NewPCG(uint64(i), 1))
				a := w.Start("a", simtest.NewDisk(), w.setup.Run)
				time.Sleep(2 * time.Second)
				checkpoint := w.checkpoint()
				b := w.Start("b", simtest.NewDisk(), w.setup.Run)
				time.Sleep(10 * time.Second)
				w.spread(draw, 10)
				for _, m := range []*simtest.Member{a, b} { // both members in turn: each is owner once
					m.KillAt(notice.PointProduced, 3)
					m.KillAt(point, 1+i/2)
				}
				for range 3 {
					w.spread(draw, 10)
					time.Sleep(15 * time.Second)
				}
				if a.Alive() || b.Alive() {
					t.Fatalf("alive: %t, %t", a.Alive(), b.Alive())
				}
				w.Start("a", a.Disk(), w.setup.Run)
				w.spread(draw, 10)
				time.Sleep(20 * time.Second)
				w.isWhole(checkpoint)
			})
		})
	}
}

// TestTornTransactionsOfAWholeTopic plays each way in which a transaction may have ended in some of its parts and not
// in others; in the short form some of the ways. Each transaction is the first with events of an added partition.
func TestTornTransactionsOfAWholeTopic(t *testing.T) {
	setup := pipetest.NewSetup()
	parts := setup.Parts()
	for bits := range 1 << len(parts) {
		if tiertest.Runs(bits%5 != 2, false) {
			continue
		}
		t.Run(fmt.Sprint(subset(parts, bits)), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWhole(t, setup, 3, 1)
				a := w.Start("a", simtest.NewDisk(), w.setup.Run)
				time.Sleep(2 * time.Second)
				checkpoint := w.checkpoint()
				for p := range 3 {
					w.send(p, 7)
				}
				time.Sleep(2 * time.Second)
				if err := a.Stop(); err != nil {
					t.Fatal(err)
				}
				for i, name := range []string{"b", "c"} {
					w.check(topics.AddPartitions(t.Context(), w.Client(), w.setup.Config.Input, 4+i))
					w.sent = append(w.sent, 0)
					w.tearAll(name, 5+i, subset(parts, (bits+7*i)%(1<<len(parts))))
				}
				last := w.Start("d", simtest.NewDisk(), w.setup.Run)
				time.Sleep(15 * time.Second)
				if err := last.Stop(); err != nil {
					t.Error(err)
				}
				w.isWhole(checkpoint)
			})
		})
	}
}

// tearAll runs a process until all records of a transaction over n events of the first and the last partition are
// acknowledged, and commits some of its parts.
func (w *whole) tearAll(name string, n int, committed []pipetest.Part) {
	w.t.Helper()
	a := w.Start(name, simtest.NewDisk(), w.setup.Run)
	time.Sleep(15 * time.Second) // time to repair the transaction
	torn, err := w.setup.Tear(w.t.Context(), w.Client(), 0)
	if err != nil {
		w.t.Fatal(err)
	}
	a.KillAt(notice.PointProduced, 1)
	w.send(0, n)
	w.send(len(w.sent)-1, n)
	<-a.Done()
	if err := torn.Commit(w.t.Context(), committed, pipetest.Whatever); err != nil {
		w.t.Fatal(err)
	}
}

// sealerOf returns the Sealer that opens the sealed records of a partition's stream.
func sealerOf(ctx context.Context, s pipetest.Setup, client *kafka.Client, partition int32) (*state.Sealer, error) {
	d, err := s.Deployment(ctx, client)
	if err != nil {
		return nil, err
	}
	inc, err := d.Incarnation(ctx, partition)
	if err != nil {
		return nil, err
	}
	return inc.Sealer()
}
