package pipetest

import (
	"context"
	"fmt"
	"time"

	"oriel/pipeline/kafka"
)

// sendBytes closes a batch of Send.
const sendBytes = 500_000

// Send appends records to a partition, at the present time.
func Send(ctx context.Context, c *kafka.Client, topic string, partition int32, records ...kafka.Record) error {
	producer, err := c.NewProducer(ctx, "", time.Minute)
	if err != nil {
		return err
	}
	var b kafka.Builder
	for i, r := range records {
		b.Append(r.Key, r.Value, r.Headers.List(), time.Now().UnixMilli())
		if i == len(records)-1 || b.Bytes()+len(records[i+1].Value) > sendBytes {
			if _, err := producer.Produce(ctx, topic, partition, &b); err != nil {
				return err
			}
			b.Reset()
		}
	}
	return nil
}

// Read gives copies of a partition's records from an offset on, or all for −1: to its present end, or to the stable one
// unless Uncommitted.
func Read(ctx context.Context, c *kafka.Client, topic string, partition int32, from int64,
	o kafka.ReaderOptions,
) ([]kafka.Record, error) {
	bounds, err := c.Bounds(ctx, topic, partition)
	if err != nil {
		return nil, err
	}
	end := bounds.Stable
	if o.Uncommitted {
		end = bounds.High
	}
	if from < 0 {
		from = bounds.Start
	}
	if o.MaxWait == 0 {
		o.MaxWait = 50 * time.Millisecond
	}
	var records []kafka.Record
	reader := c.NewReader(topic, partition, from, o)
	for next := from; next < end; {
		batch, err := reader.Fetch(ctx)
		if err != nil {
			return nil, err
		}
		if batch.Next < next {
			return nil, fmt.Errorf("pipetest: next offset went from %d back to %d", next, batch.Next)
		}
		for _, r := range batch.Records {
			records = append(records, copied(r))
		}
		next = batch.Next
		batch.Release()
	}
	return records, nil
}

// copied is a record that outlives its batch.
func copied(r kafka.Record) kafka.Record {
	r.Key, r.Value, r.Headers = clone(r.Key), clone(r.Value), r.Headers.Clone()
	return r
}
