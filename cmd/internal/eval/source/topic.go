package source

import (
	"bytes"
	"context"
	"fmt"

	"oriel/cmd/internal/eval"
	"oriel/cmd/internal/traps"
	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/fetch"
	"oriel/pipeline/kafka/records"
	"oriel/pipeline/kafka/topics"
)

// Topic has the events that the partitions of a topic contain when it is opened.
type Topic struct {
	client *kafka.Client
	topic  topics.Topic
	bounds []topics.Bounds
	totals []int64
}

// OpenTopic looks up the present ends of a topic.
func OpenTopic(ctx context.Context, client *kafka.Client, name string) (*Topic, error) {
	topic, err := topics.Find(ctx, client, name)
	if err != nil {
		return nil, fmt.Errorf("--topic: %w", err)
	}
	e := &Topic{client: client, topic: topic}
	for p := range int32(topic.Partitions) {
		b, err := topics.ReadableEnd(ctx, client, name, p)
		if err != nil {
			return nil, err
		}
		e.bounds, e.totals = append(e.bounds, b), append(e.totals, b.Stable-b.Start)
	}
	return e, nil
}

// Totals returns the number of offsets of each stream. Some of these offsets may have no record.
func (e *Topic) Totals() []int64 { return e.totals }

// Each reads one partition after another.
func (e *Topic) Each(ctx context.Context, f func(eval.Item) error) error {
	for p, bounds := range e.bounds {
		for r, err := range fetch.Records(ctx, e.client, e.topic, int32(p), bounds.Start, bounds.Stable, false) {
			if err == nil {
				err = f(eval.Item{Stream: int32(p), Record: owned(r)})
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// owned copies the slices of a record that the reader will overwrite.
func owned(r records.Record) records.Record {
	r.Key, r.Value, r.Headers = bytes.Clone(r.Key), bytes.Clone(r.Value), r.Headers.Clone()
	return r
}

// Watched also passes the records of a source to a Watch, and reports how many records were read since the last report.
type Watched struct {
	eval.Source
	Watch    *traps.Watch
	Progress func(events int)
}

// progressEvery is the number of records between two reports of progress.
const progressEvery = 2048

// Each calls f with each record.
func (w Watched) Each(ctx context.Context, f func(eval.Item) error) error {
	events := 0
	return w.Source.Each(ctx, func(i eval.Item) error {
		if !i.Record.Unreadable {
			w.Watch.See(i.Record.Value)
		}
		if events++; events%progressEvery == 0 {
			w.Progress(progressEvery)
		}
		return f(i)
	})
}
