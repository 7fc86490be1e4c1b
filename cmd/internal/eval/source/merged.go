package source

import (
	"context"
	"fmt"

	"oriel/cmd/internal/eval"
	"oriel/pipeline/kafka/fetch"
	"oriel/pipeline/kafka/records"
)

// Merged has the events of a topic as one stream. A service takes the order of events from its order log.
// Merged takes it from the times at which records came to their partitions, so that it needs no deployment. A
// record with an odd timestamp comes when its neighbours do, and keeps back no other.
type Merged struct{ *Topic }

// Totals returns a single length, because there is one stream.
func (e Merged) Totals() []int64 {
	total := int64(0)
	for _, n := range e.totals {
		total += n
	}
	return []int64{total}
}

// Each merges all partitions by the times of their records. It calls f with offsets of the merged stream.
func (e Merged) Each(ctx context.Context, f func(eval.Item) error) error {
	heads := make([]*head, len(e.bounds))
	for p, bounds := range e.bounds {
		heads[p] = &head{
			reader: fetch.NewReader(e.client, e.topic.Name, int32(p), bounds.Start, fetch.Options{MaxBytes: 1 << 20}),
			next:   bounds.Start, end: bounds.Stable, unit: fmt.Sprintf("partition %d, offset", p),
		}
		defer heads[p].reader.Close()
		if err := heads[p].advance(ctx); err != nil {
			return err
		}
	}
	for merged := int64(0); ; merged++ {
		var first *head
		for _, h := range heads {
			if h.record != nil && (first == nil || h.ms < first.ms) {
				first = h
			}
		}
		if first == nil {
			return nil
		}
		item := eval.Item{Record: *first.record, Place: eval.Place{Unit: first.unit, Number: first.record.Offset}}
		item.Record.Offset = merged
		if err := f(item); err != nil {
			return err
		}
		if err := first.advance(ctx); err != nil {
			return err
		}
	}
}

// head holds the next record of a partition.
type head struct {
	reader    *fetch.Reader
	ahead     eval.Arrival[records.Record]
	record    *records.Record // next record; nil at the end
	ms        int64           // time at which it came
	next, end int64
	unit      string
}

// advance moves to the next record. At the partition's end, record becomes nil.
func (h *head) advance(ctx context.Context) error {
	h.record = nil
	for !h.ahead.Full() && h.next < h.end {
		batch, err := h.reader.Fetch(ctx)
		if err != nil {
			return err
		}
		for _, r := range batch.Records {
			if r.Offset < h.end {
				h.ahead.Add(owned(r), r.Timestamp)
			}
		}
		h.next = batch.Next
		batch.Release()
	}
	if h.ahead.Len() > 0 {
		record, _, ms := h.ahead.Take()
		h.record, h.ms = &record, ms
	}
	return nil
}
