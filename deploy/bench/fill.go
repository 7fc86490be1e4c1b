package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"time"

	"oriel/pipeline/kafka"
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

// rowsOf returns the features of events alone, as rows of columns.
func rowsOf(events [][]byte) ([][]byte, error) {
	rows := make([][]byte, len(events))
	for i, event := range events {
		var columns struct {
			Features struct {
				Carrier json.RawMessage `json:"carrier"`
				Hour    json.RawMessage `json:"hour"`
			} `json:"features"`
		}
		err := json.Unmarshal(event, &columns)
		if err != nil {
			return nil, err
		}
		if rows[i], err = json.Marshal(columns.Features); err != nil {
			return nil, err
		}
	}
	return rows, nil
}

// losses are those of plays.
func losses() [][]byte {
	all := make([][]byte, 1000)
	for i := range all {
		all[i] = fmt.Appendf(nil, `{"loss":%g}`, float64(i*7919%1000)/1000)
	}
	return all
}

// placesOf returns where flights end alone.
func placesOf(events [][]byte) ([][]byte, error) {
	places := make([][]byte, len(events))
	for i, event := range events {
		var from struct {
			Features struct {
				Dest string `json:"dest"`
			} `json:"features"`
		}
		err := json.Unmarshal(event, &from)
		if err != nil {
			return nil, err
		}
		if places[i], err = json.Marshal(map[string]string{"place": from.Features.Dest}); err != nil {
			return nil, err
		}
	}
	return places, nil
}

// values are those of so many elements, two digits each.
func values(elements string) ([][]byte, error) {
	n, err := strconv.Atoi(elements)
	if err != nil {
		return nil, err
	}
	all := make([][]byte, 1000)
	for i := range all {
		all[i] = []byte(`{"values":[`)
		for a := range n {
			if a > 0 {
				all[i] = append(all[i], ',')
			}
			all[i] = fmt.Appendf(all[i], "%g", float64((i*7919+a*104729+a*i)%100)/100)
		}
		all[i] = append(all[i], "]}"...)
	}
	return all, nil
}

// fill makes the input topic and returns how many records each of its partitions has. Keys, if they are asked for, are
// numbers from 1.
func fill(
	ctx context.Context, client *kafka.Client, input string, events [][]byte, keys bool, o options,
) ([]int64, error) {
	if err := client.CreateTopic(ctx, input, o.partitions, 1, nil); err != nil {
		return nil, err
	}
	producer, err := client.NewProducer(ctx, "", time.Minute)
	if err != nil {
		return nil, err
	}
	ends := make([]int64, o.partitions)
	for p := range ends {
		send := func(b *kafka.Builder) error {
			ends[p] += int64(b.Count())
			_, err := producer.Produce(ctx, input, int32(p), b)
			b.Reset()
			return err
		}
		share := (o.events - p + o.partitions - 1) / o.partitions
		var b kafka.Builder
		for i := range share {
			var key []byte
			if keys {
				key = strconv.AppendInt(nil, int64(i)+1, 10)
			}
			b.Append(key, events[(p+i*o.partitions)%len(events)], nil, time.Now().UnixMilli())
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
func bomb(i int) *kafka.Builder {
	b := new(kafka.Builder)
	b.Compress([...]kafka.Codec{kafka.Gzip, kafka.Zstd}[i%2])
	b.Append(nil, make([]byte, bombBytes), nil, time.Now().UnixMilli())
	return b
}
