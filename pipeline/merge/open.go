package merge

import (
	"context"
	"errors"

	"oriel/pipeline/deployment"
	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/fetch"
	"oriel/pipeline/kafka/records"
	"oriel/pipeline/order"
	"oriel/state"
)

// Source hands out the records of a stream's input in their order.
type Source interface {
	Fetch(ctx context.Context) (*fetch.Batch, error)
	Close()
}

// Open reads a stream's input from a position on: a partition, or a whole topic in the order of its order log.
func Open(
	client *kafka.Client, c deployment.Config, topics deployment.Topics, partition int32, key [32]byte, start *state.Ordered,
	at state.Position, o fetch.Options,
) Source {
	o.ID = at.Topic
	if at.Order == nil {
		o.LastEpoch = &at.LeaderEpoch
		return fetch.NewReader(client, c.Input, partition, at.Next, o)
	}
	return &plain{
		client: client, topic: c.Input, orders: topics.Order.Name, options: o, next: at.Next, at: at.Order.Clone(), start: start,
		log: order.Log{Key: key, Topic: topics.Order.ID, Input: topics.Input.ID},
	}
}

// plain is the obvious way: a record of the order log, then each of its ranges by a reader of its own.
type plain struct {
	client  *kafka.Client
	topic   string
	orders  string
	options fetch.Options
	log     order.Log
	next    int64
	at      *state.Ordered
	start   *state.Ordered
	reader  *fetch.Reader // of the order log
	batch   *fetch.Batch  // of it
	records []records.Record
	ranges  []order.Range // of the record in progress
	record  fetch.Order
	part    *fetch.Reader
}

func (r *plain) Close() {
	if r.reader != nil {
		r.reader.Close()
	}
	if r.batch != nil {
		r.batch.Release()
	}
	if r.part != nil {
		r.part.Close()
	}
}

func (r *plain) Fetch(ctx context.Context) (*fetch.Batch, error) {
	for len(r.ranges) == 0 {
		more, err := r.nextRecord(ctx)
		if err != nil {
			return nil, err
		}
		if !more {
			return &fetch.Batch{Partition: -1, Shift: r.next}, nil
		}
	}
	g := r.ranges[0]
	if r.part == nil {
		part := order.Place(r.at, r.start, g.Partition)
		o := r.options
		o.LastEpoch = &part.LeaderEpoch
		r.part = fetch.NewReader(r.client, r.topic, g.Partition, g.From, o)
	}
	b, err := r.part.Fetch(ctx)
	if err != nil {
		return nil, err
	}
	for i := range b.Records {
		if b.Records[i].Offset >= g.To {
			b.Records = b.Records[:i]
			break
		}
	}
	if b.Next > g.To {
		b.LeaderEpoch = b.EpochAt(g.To, order.Place(r.at, r.start, g.Partition).LeaderEpoch)
		b.Next = g.To
	}
	if b.Next < g.To && b.Next == b.From && b.Stable < g.To {
		return nil, errors.New("the input ends before a range")
	}
	b.Shift = r.next - b.From
	r.next += b.Next - b.From
	b.Stable = max(b.Next, g.To)
	o := r.record
	o.Epoch, o.Done = g.Epoch, b.Next == g.To && len(r.ranges) == 1
	b.Order = &o
	r.at.Set(state.OrderedPart{Partition: g.Partition, Next: b.Next, LeaderEpoch: b.LeaderEpoch, Ordered: g.Epoch})
	r.ranges[0].From = b.Next
	if b.Next == g.To {
		r.ranges = r.ranges[1:]
		r.part.Close()
		r.part = nil
	}
	return b, nil
}

func (r *plain) nextRecord(ctx context.Context) (bool, error) {
	if r.reader == nil {
		r.reader = fetch.NewReader(r.client, r.orders, 0, r.at.Next, fetch.Options{
			ID: r.log.Topic, Uncommitted: true, LastEpoch: &r.at.LeaderEpoch, MaxWait: r.options.MaxWait,
		})
	}
	if len(r.records) == 0 {
		if r.batch != nil {
			r.batch.Release()
			r.batch = nil
		}
		b, err := r.reader.Fetch(ctx)
		if err != nil {
			return false, err
		}
		r.batch, r.records = b, b.Records
		if len(r.records) == 0 {
			return false, nil
		}
	}
	record := &r.records[0]
	entries, err := r.log.Parse(record.Value)
	if errors.Is(err, order.ErrFormat) {
		return false, err
	}
	r.ranges = order.Ranges(r.ranges[:0], r.at, r.start, entries)
	r.record = fetch.Order{Record: record.Offset, LeaderEpoch: record.LeaderEpoch}
	r.records = r.records[1:]
	return true, nil
}
