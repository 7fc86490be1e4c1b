package logtest

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/fetch"
	"oriel/pipeline/kafka/produce"
	"oriel/pipeline/kafka/records"
	"oriel/pipeline/kafka/topics"
)

// sendBytes bounds the bytes of a batch of Send.
const sendBytes = 500_000

// Send appends records to a partition. A record without a timestamp gets the current time.
func Send(ctx context.Context, c *kafka.Client, topic string, partition int32, list ...records.Record) error {
	producer, err := produce.New(ctx, c, "", time.Minute)
	if err != nil {
		return err
	}
	var b records.Builder
	for i, r := range list {
		at := r.Timestamp
		if at == 0 {
			at = time.Now().UnixMilli()
		}
		b.Append(r.Key, r.Value, r.Headers.List(), at)
		if i == len(list)-1 || b.Bytes()+len(list[i+1].Value) > sendBytes {
			if _, err := producer.Produce(ctx, topic, partition, &b); err != nil {
				return err
			}
			b.Reset()
		}
	}
	return nil
}

// Read returns copies of a partition's records from an offset on, or of all records if from is −1. It reads to the
// stable end of the partition, or with Uncommitted to its end.
func Read(ctx context.Context, c *kafka.Client, topic string, partition int32, from int64,
	o fetch.Options,
) ([]records.Record, error) {
	bounds, err := topics.BoundsOf(ctx, c, topic, partition)
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
	var records []records.Record
	reader := fetch.NewReader(c, topic, partition, from, o)
	for next := from; next < end; {
		batch, err := reader.Fetch(ctx)
		if err != nil {
			return nil, err
		}
		if batch.Next < next {
			return nil, fmt.Errorf("logtest: next offset went from %d back to %d", next, batch.Next)
		}
		for _, r := range batch.Records {
			records = append(records, copied(r))
		}
		next = batch.Next
		batch.Release()
	}
	return records, nil
}

// copied returns a copy of a record, which stays valid after its batch is released.
func copied(r records.Record) records.Record {
	r.Key, r.Value, r.Headers = bytes.Clone(r.Key), bytes.Clone(r.Value), r.Headers.Clone()
	return r
}
