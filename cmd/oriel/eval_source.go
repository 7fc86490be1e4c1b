package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"oriel/cmd/internal/eval"
	"oriel/cmd/internal/exit"
	"oriel/cmd/internal/program"
	"oriel/cmd/internal/replay"
	"oriel/cmd/internal/settings"
	"oriel/cmd/internal/traps"
	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/fetch"
	"oriel/pipeline/kafka/records"
	"oriel/pipeline/kafka/topics"
	"oriel/pipeline/streams"
	"oriel/schemas/event"
	"oriel/schemas/text"
)

// fileEvents has the events of an NDJSON or CSV file, in one stream or distributed over several streams.
type fileEvents struct {
	name   string
	model  streams.Model
	each   func(in io.Reader, f func(r records.Record, place []byte) error) error
	unit   string // "line" or "record"
	totals []int64
}

// newFileEvents returns the events of a file. It reads the file once to count the records.
func newFileEvents(cmd *cobra.Command, o evalOptions, s settings.Settings) (*fileEvents, error) {
	model := s.Model()
	e := &fileEvents{name: o.ndjson + o.table.file, model: model, totals: make([]int64, o.partitions)}
	if o.table.file != "" {
		body := model.Events.Body
		features := func(m event.Member) bool { return m.Kind == event.KindFeatures }
		mapping, err := o.table.resolve(program.Environ(cmd.Context()),
			func([]string) (event.Body, error) { return body, nil },
			!slices.ContainsFunc(body.Members, features))
		if err != nil {
			return nil, err
		}
		e.each, e.unit = e.rows(mapping), "record"
	} else {
		if o.separator == "" && (s.UserID != "" || model.Keyed) {
			return nil, exit.WrongUse("--key-separator: missing; each line must say its user or key before the event")
		}
		e.each, e.unit = e.lines(o.separator, s.MaxRecordBytes), "line"
	}
	totals := make([]int64, o.partitions)
	err := e.Each(cmd.Context(), func(i eval.Item) error {
		totals[i.Stream]++
		return nil
	})
	e.totals = totals
	return e, err
}

// rows returns a function that reads the records of a CSV file.
func (e *fileEvents) rows(mapping tableMapping) func(io.Reader, func(records.Record, []byte) error) error {
	return func(in io.Reader, f func(records.Record, []byte) error) error {
		return mapping.each(in, func(o outgoing) error {
			r := records.Record{Key: o.key, Value: o.value}
			if users := e.model.Users; users != nil && users.Header != "" {
				r.Headers = records.HeadersOf(records.Header{Key: users.Header, Value: o.key})
			}
			place := o.place
			if place == nil {
				place = o.key
			}
			return f(r, place)
		})
	}
}

// lines returns a function that reads the records of an NDJSON file. A line that is too long becomes a null event, as
// in the service.
func (e *fileEvents) lines(separator string, maxBytes int) func(io.Reader, func(records.Record, []byte) error) error {
	if separator != "" {
		maxBytes += replay.KeyBytes
	}
	return func(in io.Reader, f func(records.Record, []byte) error) error {
		for line, err := range text.NewLines(in, maxBytes).All() {
			if err != nil {
				return err
			}
			r := replay.RecordOf(e.model, line, separator)
			if err := f(r, r.Key); err != nil {
				return err
			}
		}
		return nil
	}
}

// Totals returns the number of records of each stream.
func (e *fileEvents) Totals() []int64 { return e.totals }

// Each reads the file.
func (e *fileEvents) Each(ctx context.Context, f func(eval.Item) error) error {
	in, err := os.Open(e.name)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	if info, err := in.Stat(); err != nil || !info.Mode().IsRegular() {
		return exit.WrongUse("%s: not a file that can be read twice", e.name)
	}
	spread := sender{builders: make([]records.Builder, len(e.totals)), fixed: -1}
	offsets, count := make([]int64, len(e.totals)), int64(0)
	err = e.each(in, func(r records.Record, place []byte) error {
		p := spread.partition(place)
		r.Offset = offsets[p]
		offsets[p]++
		count++
		item := eval.Item{Stream: p, Record: owned(r), Place: eval.Place{Unit: e.unit, Number: count}}
		return errors.Join(ctx.Err(), f(item))
	})
	if err != nil {
		return fmt.Errorf("%s: %w", e.name, err)
	}
	return nil
}

// owned copies the slices of a record that the reader will overwrite.
func owned(r records.Record) records.Record {
	r.Key, r.Value, r.Headers = bytes.Clone(r.Key), bytes.Clone(r.Value), r.Headers.Clone()
	return r
}

// topicEvents has the events that the partitions of a topic contain when it is opened.
type topicEvents struct {
	client *kafka.Client
	topic  string
	bounds []topics.Bounds
	totals []int64
}

func newTopicEvents(ctx context.Context, client *kafka.Client, name string) (*topicEvents, error) {
	topic, err := topics.Find(ctx, client, name)
	if err != nil {
		return nil, fmt.Errorf("--topic: %w", err)
	}
	e := &topicEvents{client: client, topic: name}
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
func (e *topicEvents) Totals() []int64 { return e.totals }

// Each reads one partition after another.
func (e *topicEvents) Each(ctx context.Context, f func(eval.Item) error) error {
	for p, bounds := range e.bounds {
		reader := fetch.NewReader(e.client, e.topic, int32(p), bounds.Start, fetch.Options{MaxBytes: 4 << 20})
		for next := bounds.Start; next < bounds.Stable; {
			batch, err := reader.Fetch(ctx)
			if err != nil {
				return err
			}
			for _, r := range batch.Records {
				if r.Offset >= bounds.Stable {
					break
				}
				if err := f(eval.Item{Stream: int32(p), Record: owned(r)}); err != nil {
					return err
				}
			}
			next = batch.Next
			batch.Release()
		}
	}
	return nil
}

// watched also passes the records of a source to a Watch, and reports how many records were read since the last report.
type watched struct {
	eval.Source
	watch    *traps.Watch
	progress func(events int)
}

// progressEvery is the number of records between two reports of progress.
const progressEvery = 2048

// Each calls f with each record.
func (w watched) Each(ctx context.Context, f func(eval.Item) error) error {
	events := 0
	return w.Source.Each(ctx, func(i eval.Item) error {
		if !i.Record.Unreadable {
			w.watch.See(i.Record.Value)
		}
		if events++; events%progressEvery == 0 {
			w.progress(progressEvery)
		}
		return f(i)
	})
}
