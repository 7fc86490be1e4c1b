package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"os"
	"time"

	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/produce"
	"oriel/pipeline/kafka/records"
	"oriel/pipeline/kafka/topics"
	"oriel/schemas/table"
)

// bombBytes is what the value of a bomb unpacks to: below the 64 MiB that the service reads a batch to, so that all of
// it is unpacked.
const bombBytes = 60 << 20

// readEvents maps flights to events with named features, hashed by the service.
func readEvents(path, label string) ([][]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	unzipped, err := gzip.NewReader(f)
	if err != nil {
		return nil, err
	}
	rows, err := table.Mapping{
		Where: "arr_delay!=NA", Label: label,
		Features: []string{"carrier", "origin", "dest", "hour:number", "month:number", "distance:number"},
	}.Open(unzipped)
	if err != nil {
		return nil, err
	}
	var events [][]byte
	for {
		row, err := rows.Next()
		if errors.Is(err, io.EOF) {
			return events, nil
		}
		if err != nil {
			return nil, err
		}
		events = append(events, bytes.Clone(row.Event))
	}
}

// fill makes the input topic and returns how many records each of its partitions has. key is that of a partition's
// record, from 0; nil: none.
func fill(
	ctx context.Context, client *kafka.Client, input string, events func(all, i int) []byte, key func(i int) []byte,
	o options,
) ([]int64, error) {
	if err := topics.Create(ctx, client, input, o.partitions, 1, nil); err != nil {
		return nil, err
	}
	producer, err := produce.New(ctx, client, "", time.Minute)
	if err != nil {
		return nil, err
	}
	ends := make([]int64, o.partitions)
	for p := range ends {
		send := func(b *records.Builder) error {
			ends[p] += int64(b.Count())
			_, err := producer.Produce(ctx, input, int32(p), b)
			b.Reset()
			return err
		}
		share := (o.events - p + o.partitions - 1) / o.partitions
		var b records.Builder
		for i := range share {
			var name []byte
			if key != nil {
				name = key(i)
			}
			b.Append(name, events(p+i*o.partitions, i), nil, time.Now().UnixMilli())
			if b.Bytes() > 900_000 || i == share-1 {
				if err := send(&b); err != nil {
					return nil, err
				}
			}
			if bombDue(i, share, o.bombs) {
				if err := send(bomb(i)); err != nil {
					return nil, err
				}
			}
		}
	}
	return ends, nil
}

// bombDue spreads bombs evenly behind the first of share events.
func bombDue(i, share, bombs int) bool {
	return i*bombs/share != (i-1)*bombs/share || i == 0 && bombs > 0
}

// bomb is a batch of one record of zeros, compressed.
func bomb(i int) *records.Builder {
	b := new(records.Builder)
	b.Compress([...]records.Codec{records.Gzip, records.Zstd}[i%2])
	b.Append(nil, make([]byte, bombBytes), nil, time.Now().UnixMilli())
	return b
}
