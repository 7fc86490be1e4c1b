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

// bombBytes is the unpacked size of a bomb's value. It is below 64 MiB, the largest batch that the service reads, so
// that all of it is unpacked.
const bombBytes = 60 << 20

// readEvents maps flights to events with named features, which the service hashes.
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

// fill creates the input topic and returns the number of records in each partition. key returns the key of a
// partition's i-th record, counted from 0; if it is nil, records have no key.
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

// bombDue reports whether a bomb comes after the i-th of share events, so that bombs are spread evenly.
func bombDue(i, share, bombs int) bool {
	return i*bombs/share != (i-1)*bombs/share || i == 0 && bombs > 0
}

// bomb returns a compressed batch of one record of zeros.
func bomb(i int) *records.Builder {
	b := new(records.Builder)
	b.Compress([...]records.Codec{records.Gzip, records.Zstd}[i%2])
	b.Append(nil, make([]byte, bombBytes), nil, time.Now().UnixMilli())
	return b
}
