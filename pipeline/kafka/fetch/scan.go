package fetch

import (
	"context"
	"errors"
	"fmt"
	"iter"
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
