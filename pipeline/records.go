package pipeline

import (
	"context"
	"fmt"
	"iter"
	"time"

	"oriel/pipeline/kafka"
)

// recordsOf gives the records of a partition from an offset up to an end that exists, committed ones or all. A record
// is valid until the next one.
func recordsOf(
	ctx context.Context, c *kafka.Client, topic kafka.Topic, p int32, from, end int64, uncommitted bool,
) iter.Seq2[kafka.Record, error] {
	return func(yield func(kafka.Record, error) bool) {
		reader := c.NewReader(topic.Name, p, from,
			kafka.ReaderOptions{ID: topic.ID, Uncommitted: uncommitted, MaxBytes: 4 << 20, MaxWait: 100 * time.Millisecond})
		defer reader.Close()
		for next := from; next < end; {
			batch, err := reader.Fetch(ctx)
			if err != nil {
				yield(kafka.Record{}, fmt.Errorf("pipeline: read %s partition %d: %w", topic.Name, p, err))
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

// hasRecord tells whether a partition has a record between two offsets.
func hasRecord(
	ctx context.Context, c *kafka.Client, topic kafka.Topic, p int32, from, end int64, uncommitted bool,
) (bool, error) {
	for _, err := range recordsOf(ctx, c, topic, p, from, end, uncommitted) {
		return err == nil, err
	}
	return false, nil
}

// backwards gives windows [from, end) of a partition that reach further and further back from its end, the last one to
// its start.
func backwards(start, end int64) iter.Seq[int64] {
	return func(yield func(int64) bool) {
		for width := int64(64); ; width *= 8 {
			from := max(start, end-width)
			if !yield(from) || from == start {
				return
			}
		}
	}
}
