package fetch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/records"
	"oriel/pipeline/kafka/topics"
)

// Records iterates over the records of partition p from an offset up to an existing end: committed records, or all of
// them. A record is valid until the next one. Because bounds are looked up before reading, retention may delete the
// first records in between. Then Records yields a transient error, never ErrOffsetOutOfRange.
func Records(
	ctx context.Context, c *kafka.Client, topic topics.Topic, p int32, from, end int64, uncommitted bool,
) iter.Seq2[records.Record, error] {
	return func(yield func(records.Record, error) bool) {
		reader := NewReader(c, topic.Name, p, from,
			Options{ID: topic.ID, Uncommitted: uncommitted, MaxBytes: 4 << 20, MaxWait: 100 * time.Millisecond})
		defer reader.Close()
		for next := from; next < end; {
			batch, err := reader.Fetch(ctx)
			if errors.Is(err, kafka.ErrOffsetOutOfRange) { // the caller looks the bounds up again and starts there
				err = errors.New("retention has deleted the records since the bounds were looked up")
			}
			if err != nil {
				yield(records.Record{}, fmt.Errorf("pipeline: read %s partition %d: %w", topic.Name, p, err))
				return
			}
			next = batch.Next
			for _, r := range batch.Records {
				if r.Offset < end && !yield(r, nil) {
					batch.Release()
					return
				}
			}
			batch.Release()
		}
	}
}

// HasRecord reports whether a partition has a record between two offsets.
func HasRecord(
	ctx context.Context, c *kafka.Client, topic topics.Topic, p int32, from, end int64, uncommitted bool,
) (bool, error) {
	for _, err := range Records(ctx, c, topic, p, from, end, uncommitted) {
		return err == nil, err
	}
	return false, nil
}

// Backwards iterates over starts of windows [from, end) of a partition. Each window starts earlier than the previous
// one, and the last window begins at start. For example, a reader that wants the last record of some kind reads windows
// until one contains it.
func Backwards(start, end int64) iter.Seq[int64] {
	return func(yield func(int64) bool) {
		for width := int64(64); ; width *= 8 {
			from := max(start, end-width)
			if !yield(from) || from == start {
				return
			}
		}
	}
}

// Split returns the part of b before offset at, which must be between From and Next, and leaves the other part in b.
// was is the leader epoch of the record before the Batch. Both parts hold all memory that records of the Batch refer
// to.
func (b *Batch) Split(at int64, was int32) *Batch {
	n, _ := slices.BinarySearchFunc(b.Records, at, func(r records.Record, at int64) int {
		return cmp.Compare(r.Offset, at)
	})
	epochs, _ := slices.BinarySearchFunc(b.Epochs, at, func(e Epoch, at int64) int { return cmp.Compare(e.Base, at) })
	head, _ := batches.Get().(*Batch)
	head.Records = append(head.Records, b.Records[:n]...)
	head.Epochs = append(head.Epochs, b.Epochs[:epochs]...)
	head.Partition, head.From, head.Next = b.Partition, b.From, at
	head.Start, head.Stable, head.High = b.Start, b.Stable, b.High
	head.LeaderEpoch = b.EpochAt(at, was)
	switch {
	case n == len(b.Records):
		head.held, b.held = b.held, head.held
	case n > 0:
		for _, buf := range b.held {
			head.hold(buf)
		}
	}
	b.From = at
	if b.whole == nil {
		b.whole = b.Records
	}
	b.Records = b.Records[n:]
	b.Epochs = slices.Delete(b.Epochs, 0, epochs)
	return head
}
