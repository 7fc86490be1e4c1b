package merge_test

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"oriel/pipeline/embedded"
	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/fetch"
	"oriel/pipeline/kafka/memory"
	"oriel/pipeline/kafka/produce"
	"oriel/pipeline/kafka/records"
	"oriel/pipeline/kafka/topics"
	"oriel/pipeline/merge"
	"oriel/pipeline/order"
	"oriel/pipeline/pipetest/brokertest"
	"oriel/pipeline/pipetest/logtest"
	"oriel/pipeline/pipetest/simtest"
	"oriel/state"
)

// env holds an input topic and its order log on a broker that only this test uses.
type env struct {
	testing.TB
	broker interface {
		MoveLeader(topic string, p, broker int32) error
	}
	client    *kafka.Client
	budget    *memory.Budget
	log       order.Log
	start     *state.Ordered
	producers map[string]*produce.Producer
}

var names = merge.Topics{Input: "input", Order: "late.order"}

func newEnv(t testing.TB, partitions int, budget *memory.Budget) *env {
	broker := brokertest.Embedded(t, embedded.Options{Brokers: 2})
	client := brokertest.Client(t, broker.Addr(), kafka.Config{DoubtFor: 1200 * time.Millisecond, Budget: budget})
	return (&env{TB: t, broker: broker, client: client, budget: budget}).with(partitions)
}

// newSimulatedEnv is for tests that wait. It must be called in a bubble of testing/synctest, whose clock advances when
// all goroutines wait.
func newSimulatedEnv(t testing.TB, partitions int) *env {
	d := simtest.NewWith(t, simtest.Options{Brokers: 2})
	return (&env{TB: t, broker: d, client: d.Client()}).with(partitions)
}

// with creates the input and the order log.
func (e *env) with(partitions int) *env {
	e.producers = map[string]*produce.Producer{}
	input := e.create(names.Input, partitions, nil)
	log := e.create(names.Order, 1, map[string]string{"message.timestamp.type": "LogAppendTime"})
	e.log = order.Log{Key: [32]byte{1}, Topic: log.ID, Input: input.ID}
	e.start = &state.Ordered{Log: log.ID, LeaderEpoch: -1}
	return e
}

func (e *env) check(err error) {
	e.Helper()
	if err != nil {
		e.Fatal(err)
	}
}

func (e *env) create(name string, partitions int, settings map[string]string) topics.Topic {
	e.Helper()
	e.check(topics.Create(e.Context(), e.client, name, partitions, 1, settings))
	cluster, err := topics.Describe(e.Context(), e.client, name)
	e.check(err)
	return cluster.Topics[name]
}

func (e *env) producer(id string) *produce.Producer {
	e.Helper()
	if e.producers[id] == nil {
		p, err := produce.New(e.Context(), e.client, id, time.Minute)
		e.check(err)
		e.producers[id] = p
	}
	return e.producers[id]
}

// send appends a batch to a partition.
func (e *env) send(p int32, codec records.Codec, values ...string) {
	e.Helper()
	_, err := e.producer("").Produce(e.Context(), names.Input, p, batch(codec, values))
	e.check(err)
}

// transact appends a batch in its own transaction, which it commits or aborts.
func (e *env) transact(p int32, commit bool, values ...string) {
	e.Helper()
	producer := e.producer("transactional")
	e.check(producer.Begin(e.Context(), []kafka.TopicPartition{{Topic: names.Input, Partition: p}}))
	_, err := producer.Produce(e.Context(), names.Input, p, batch(records.NoCompression, values))
	e.check(err)
	e.check(producer.End(e.Context(), commit))
}

func batch(codec records.Codec, values []string) *records.Builder {
	var b records.Builder
	b.Compress(codec)
	for _, v := range values {
		b.Append(nil, []byte(v), nil, 1)
	}
	return &b
}

// end returns the last stable offset of a partition.
func (e *env) end(p int32) int64 {
	e.Helper()
	bounds, err := topics.StableEnd(e.Context(), e.client, names.Input, p)
	e.check(err)
	return bounds.Stable
}

// ended returns the last slot that has ended.
func ended() int64 { return time.Now().Unix() - 1 }

// order appends an order record that closes all slots that have ended. It is signed by log, which may be foreign.
func (e *env) order(log order.Log, entries ...order.Entry) {
	e.Helper()
	e.close(log, ended(), entries...)
}

// close appends an order record of a slot.
func (e *env) close(log order.Log, slot int64, entries ...order.Entry) {
	e.Helper()
	var b records.Builder
	b.Append(nil, log.Append(nil, order.Record{Slot: slot, Entries: entries}), nil, 0)
	_, err := produce.Append(e.Context(), e.client, names.Order, 0, &b)
	e.check(err)
}

// move gives a partition another leader, so that the partition's next records have a new epoch.
func (e *env) move(topic string, p, broker int32) {
	e.Helper()
	e.check(e.broker.MoveLeader(topic, p, broker))
}

// first returns the position at which the stream starts.
func (e *env) first() state.Position {
	return state.Position{Topic: e.log.Input, LeaderEpoch: -1, Order: e.start.Clone()}
}

// open returns a Reader. The test must close it.
func (e *env) open(at state.Position) *merge.Reader {
	return merge.NewReader(e.client, names, e.log, e.start, at, fetch.Options{
		MaxWait: 20 * time.Millisecond, Budget: e.budget,
	})
}

// walk records the Batches that a stream has taken: its position, and a line for each record.
type walk struct {
	at    state.Position
	lines []string
}

func (w *walk) line(r *records.Record, p int32, merged int64) {
	value := r.Value
	if len(value) > 20 {
		value = fmt.Appendf(nil, "%d bytes", len(value))
	}
	w.lines = append(w.lines, fmt.Sprintf("%d: %d/%d %s", merged, p, r.Offset, value))
}

// take adds a Batch to the walk.
func (w *walk) take(tb testing.TB, b *fetch.Batch) {
	tb.Helper()
	if b.From+b.Shift != w.at.Next {
		tb.Fatalf("a Batch starts at merged offset %d, the stream stands at %d", b.From+b.Shift, w.at.Next)
	}
	if b.Partition == -1 && (b.Next != b.From || len(b.Records) > 0) || b.Partition != -1 && b.Order == nil {
		tb.Fatalf("a Batch of partition %d, from %d to %d, of order %v", b.Partition, b.From, b.Next, b.Order)
	}
	switch {
	case b.Order == nil:
		return
	case b.Order.Slot < w.at.Order.Slot:
		tb.Fatalf("slot %d after slot %d", b.Order.Slot, w.at.Order.Slot)
	case b.Partition != -1:
		w.move(tb, b)
	}
	if done := b.Order.Done; done != nil {
		w.at.Order.Next, w.at.Order.LeaderEpoch, w.at.Order.Slot = b.Order.Record+1, b.Order.LeaderEpoch, done.Slot
		for _, reach := range done.Parts {
			part, listed := w.at.Order.Part(reach.Partition)
			if !listed {
				part.Next = reach.Start
			}
			part.End, part.Ordered = reach.End, reach.Epoch
			w.at.Order.Set(part)
		}
	}
}

// move adds the records of a Batch to the walk.
func (w *walk) move(tb testing.TB, b *fetch.Batch) {
	tb.Helper()
	part, _ := w.at.Order.Part(b.Partition)
	for i := range b.Records {
		r := &b.Records[i]
		if r.Offset < max(b.From, part.Next) || r.Offset >= b.Next {
			tb.Fatalf("offset %d in a Batch from %d to %d, at %d", r.Offset, b.From, b.Next, part.Next)
		}
		part.Next = r.Offset + 1
		w.line(r, b.Partition, r.Offset+b.Shift)
	}
	w.at.Next = b.Next + b.Shift
	part.Next, part.End, part.LeaderEpoch, part.Ordered = b.Next, b.Order.End, b.LeaderEpoch, b.Order.Epoch
	w.at.Order.Set(part)
	w.at.Order.Next, w.at.Order.LeaderEpoch, w.at.Order.Slot = b.Order.Record, b.Order.LeaderEpoch, b.Order.Slot
}

// until takes Batches until the walk has reached a merged offset.
func (w *walk) until(e *env, source merge.Source, merged int64) { w.reach(e, source, merged, 0) }

// reach takes Batches until the walk has reached a merged offset and an order record.
func (w *walk) reach(e *env, source merge.Source, merged, record int64) {
	e.Helper()
	ctx, cancel := context.WithTimeout(e.Context(), time.Minute)
	defer cancel()
	for w.at.Next < merged || w.at.Order.Next < record {
		b, err := source.Fetch(ctx)
		if err != nil {
			e.Fatalf("at merged offset %d of %d: %v", w.at.Next, merged, err)
		}
		w.take(e, b)
		b.Release()
	}
}

// piece is an offset of the input in the order: one record, or an offset without a record.
type piece struct {
	slot      int64
	partition int32
	offset    int64
	record    *records.Record
}

// model is the slow reference model of a Reader: it reads the full order log, and for each order record that counts the
// whole input, whose offsets it sorts. It implements the rule of package order anew.
func (e *env) model() *walk {
	e.Helper()
	w := &walk{at: e.first()}
	at := w.at.Order
	log, err := logtest.Read(e.Context(), e.client, names.Order, 0, 0, fetch.Options{
		Uncommitted: true, Budget: memory.NewBudget(1 << 30),
	})
	e.check(err)
	for i := range log {
		is, err := e.log.Parse(log[i].Value)
		if err != nil || is.Slot < at.Slot || !log[i].Appended || log[i].Timestamp < 1000*is.Slot+1000 {
			continue
		}
		for _, n := range is.Entries {
			if part, _ := at.Part(n.Partition); n.End > part.End && n.Epoch >= part.Ordered {
				part.End, part.Ordered = n.End, n.Epoch
				at.Set(part)
			}
		}
		var pieces []piece
		for _, part := range slices.Clone(at.Parts) {
			added := e.pieces(part, at.Slot, is.Slot)
			part.Next += int64(len(added))
			at.Set(part)
			pieces = append(pieces, added...)
		}
		slices.SortStableFunc(pieces, func(a, b piece) int { return cmp.Compare(a.slot, b.slot) })
		for _, p := range pieces {
			if p.record != nil {
				w.line(p.record, p.partition, w.at.Next)
			}
			w.at.Next++
		}
		at.Next, at.Slot = log[i].Offset+1, is.Slot
		if e.log.ByClock {
			at.Slot++
		}
	}
	return w
}

// pieces returns the offsets of a partition that an order record of slot closes orders. Slots before first are closed.
func (e *env) pieces(part state.OrderedPart, first, closes int64) (all []piece) {
	e.Helper()
	found, err := logtest.Read(e.Context(), e.client, names.Input, part.Partition, part.Next, fetch.Options{
		Budget: memory.NewBudget(1 << 30),
	})
	e.check(err)
	slot := first
	for offset := part.Next; offset < part.End; offset++ {
		is := piece{partition: part.Partition, offset: offset}
		if len(found) > 0 && found[0].Offset == offset {
			is.record, found = &found[0], found[1:]
			own := closes
			if is.record.Appended {
				own = is.record.Timestamp / 1000
			}
			if own > closes && e.log.ByClock {
				return all
			}
			slot = max(slot, min(own, closes))
		}
		is.slot = slot
		all = append(all, is)
	}
	return all
}

// end takes Batches up to the end of the reference model's walk, and compares the two.
func (w *walk) end(e *env, source merge.Source, model *walk) {
	e.Helper()
	w.reach(e, source, model.at.Next, model.at.Order.Next)
	w.same(e, model)
}

// same compares a walk with the reference model's.
func (w *walk) same(tb testing.TB, model *walk) {
	tb.Helper()
	for i := range max(len(w.lines), len(model.lines)) {
		if i >= len(w.lines) || i >= len(model.lines) || w.lines[i] != model.lines[i] {
			tb.Fatalf("%d records, want %d; they differ from number %d on: %.3q, want %.3q",
				len(w.lines), len(model.lines), i, w.lines[min(i, len(w.lines)):], model.lines[min(i, len(model.lines)):])
		}
	}
	if got, want := place(w.at), place(model.at); got != want {
		tb.Fatalf("the position is %s, want %s", got, want)
	}
}

// place formats a position without its epochs.
func place(at state.Position) string {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%d order %d slot %d", at.Next, at.Order.Next, at.Order.Slot)
	for _, p := range at.Order.Parts {
		fmt.Fprintf(&b, " %d/%d of %d", p.Partition, p.Next, p.End)
	}
	return b.String()
}
