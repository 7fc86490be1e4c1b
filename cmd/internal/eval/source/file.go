package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"oriel/cmd/internal/eval"
	"oriel/cmd/internal/exit"
	"oriel/cmd/internal/replay"
	"oriel/cmd/internal/settings"
	"oriel/cmd/internal/setup/sample"
	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/records"
	"oriel/pipeline/streams"
	"oriel/schemas/event"
	"oriel/schemas/text"
)

// File has the events of an NDJSON or CSV file, in one stream or distributed over several streams.
type File struct {
	name   string
	model  streams.Model
	each   func(in io.Reader, f func(r records.Record, place []byte) error) error
	unit   string // "line" or "record"
	totals []int64
}

// Options says how a file is read.
type Options struct {
	NDJSON     string // file of event lines; empty: the table
	Separator  string // text between key and event in a line; empty: lines have no key
	Table      Table  // CSV file
	Partitions int    // number of streams
	Mapped     bool   // the mapping of the settings reads events from rows
}

// OpenFile returns the events of a file. It reads the file once to count the records.
func OpenFile(ctx context.Context, o Options, s settings.Settings) (*File, error) {
	model := s.Model()
	e := &File{name: o.NDJSON + o.Table.File, model: model, totals: make([]int64, o.Partitions)}
	if o.Table.File != "" {
		body := model.Events.Body
		features := func(m event.Member) bool { return m.Kind == event.KindFeatures }
		rows, err := o.Table.resolve(body, o.Mapped, !slices.ContainsFunc(body.Members, features))
		if err != nil {
			return nil, err
		}
		e.each, e.unit = e.rows(rows), "record"
	} else {
		if o.Separator == "" && (s.UserID != "" || model.Keyed) {
			return nil, exit.WrongUse("--key-separator: missing; each line must say its user or key before the event")
		}
		e.each, e.unit = e.lines(o.Separator, s.MaxRecordBytes), "line"
	}
	totals := make([]int64, o.Partitions)
	err := e.Each(ctx, func(i eval.Item) error {
		totals[i.Stream]++
		return nil
	})
	e.totals = totals
	return e, err
}

// rows returns a function that reads the records of a CSV file.
func (e *File) rows(m rows) func(io.Reader, func(records.Record, []byte) error) error {
	return func(in io.Reader, f func(records.Record, []byte) error) error {
		return m.each(in, func(r records.Record, place []byte) error {
			if users := e.model.Users; users != nil && users.Header != "" {
				r.Headers = records.HeadersOf(records.Header{Key: users.Header, Value: r.Key})
			}
			return f(r, place)
		})
	}
}

// lines returns a function that reads the records of an NDJSON file. A line that is too long becomes a null event, as
// in the service.
func (e *File) lines(separator string, maxBytes int) func(io.Reader, func(records.Record, []byte) error) error {
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
func (e *File) Totals() []int64 { return e.totals }

// Each reads the file.
func (e *File) Each(ctx context.Context, f func(eval.Item) error) error {
	in, err := open(e.name)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	offsets, next, count := make([]int64, len(e.totals)), 0, int64(0)
	err = e.each(in, func(r records.Record, place []byte) error {
		p := int32(next)
		if place != nil {
			p = kafka.PartitionOf(place, len(e.totals))
		} else {
			next = (next + 1) % len(e.totals)
		}
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

// open opens a file that can be read twice.
func open(name string) (*os.File, error) {
	in, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	if info, err := in.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(exit.WrongUse("%s: not a file that can be read twice", name), in.Close())
	}
	return in, nil
}

// WithForm adds to an error about the lines of a file why the file has no lines of JSON objects, if its start shows it.
func WithForm(file string, cause error) error {
	in, err := os.Open(file)
	if err != nil {
		return cause
	}
	defer func() { _ = in.Close() }()
	start, err := io.ReadAll(io.LimitReader(in, 1<<20))
	if form := sample.FormOfFile(start); err == nil && form != "" {
		return fmt.Errorf("%w. The file has no lines of JSON: %s", cause, form)
	}
	return cause
}
