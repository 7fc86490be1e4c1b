//go:build bench

package bench

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"os"
	"testing"
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
func readEvents(t *testing.T, path, label string) (events [][]byte) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	unzipped, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := table.Mapping{
		Where: "arr_delay!=NA", Label: label,
		Features: []string{"carrier", "origin", "dest", "hour:number", "month:number", "distance:number"},
	}.Open(unzipped)
	if err != nil {
		t.Fatal(err)
	}
	for {
		row, err := rows.Next()
		if errors.Is(err, io.EOF) {
			return events
		}
		if err != nil {
			t.Fatal(err)
		}
		events = append(events, bytes.Clone(row.Event))
	}
}

// fill creates the input topic with o.events events of a form, which repeat, and returns the number of records in each
// partition.
func fill(t *testing.T, client *kafka.Client, input string, f form, flights [][]byte, o options) []int64 {
	t.Helper()
	events := f.of(t, flights)
	reach, cancel := context.WithTimeout(t.Context(), 30*time.Second) // the client retries until the broker answers
	defer cancel()
	if err := topics.Create(reach, client, input, o.partitions, 1, nil); err != nil {
		t.Fatalf("--brokers %s: %v", o.brokers, err)
	}
	producer, err := produce.New(t.Context(), client, "", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	ends := make([]int64, o.partitions)
	for p := range ends {
		send := func(b *records.Builder) {
			ends[p] += int64(b.Count())
			if _, err := producer.Produce(t.Context(), input, int32(p), b); err != nil {
				t.Fatalf("%s, partition %d: %v", input, p, err)
			}
			b.Reset()
		}
		share := (o.events - p + o.partitions - 1) / o.partitions
		var b records.Builder
		for i := range share {
			var name []byte
			if f.key != nil {
				name = f.key(i)
			}
			b.Append(name, events[(p+i*o.partitions)%len(events)], nil, time.Now().UnixMilli())
			if b.Bytes() > 900_000 || i == share-1 {
				send(&b)
			}
			if bombDue(i, share, o.bombs) {
				send(bomb(i))
			}
		}
	}
	return ends
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
