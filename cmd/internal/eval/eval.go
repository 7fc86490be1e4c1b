package eval

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"sync"

	"oriel/cmd/internal/digits"
	"oriel/cmd/internal/settings"
	"oriel/pipeline/kafka/records"
)

// Item is one record of a stream. The package owns the record once a Source has passed it on.
type Item struct {
	Stream int32
	Record records.Record
	Place  Place
}

// Place is the position of a record in a file or in a merged topic. It is zero for a record of a partition that is a
// stream, because such a record has an offset.
type Place struct {
	Unit   string // noun for positions, for example "line", "record of a table" or "partition 3, offset"
	Number int64
}

// String returns the place as messages name it.
func (i Item) String() string {
	if i.Place == (Place{}) {
		return fmt.Sprintf("offset %d of partition %d", i.Record.Offset, i.Stream)
	}
	return fmt.Sprintf("%s %d", i.Place.Unit, i.Place.Number)
}

// Source provides the events.
type Source interface {
	// Totals returns the approximate number of records of each stream, by which streams are divided into parts.
	Totals() []int64
	// Each calls f for each record, in order within each stream.
	Each(ctx context.Context, f func(Item) error) error
}

// Input holds the settings to compare.
type Input struct {
	Settings []settings.Settings // one for each row; all must decode events in the same way
	Seeds    int                 // number of runs of each setting
}

// chunk is the number of items that all machines take before more records are read.
const chunk = 2048

// Feed passes items to all machines, chunk by chunk. As many machines work at a time as there are processors.
type Feed[M, T any] struct {
	Machines []M
	Take     func(m M, items []T) error
	waiting  []T
}

// Add adds an item. The machines take it with the next Flush.
func (f *Feed[M, T]) Add(item T) error {
	if f.waiting = append(f.waiting, item); len(f.waiting) < chunk {
		return nil
	}
	return f.Flush()
}

// Flush lets all machines take the waiting items. After a failure it starts no further machine.
func (f *Feed[M, T]) Flush() error {
	workers := min(runtime.GOMAXPROCS(0), len(f.Machines))
	failed := make([]error, workers)
	var working sync.WaitGroup
	for w := range workers {
		working.Go(func() {
			for i := w; i < len(f.Machines) && failed[w] == nil; i += workers {
				failed[w] = f.Take(f.Machines[i], f.waiting)
			}
		})
	}
	working.Wait()
	f.waiting = f.waiting[:0]
	return errors.Join(failed...)
}

// Read passes each record of a source to take.
func Read(ctx context.Context, source Source, take func(Item) error) error {
	return source.Each(ctx, func(i Item) error { return errors.Join(ctx.Err(), take(i)) })
}

// Warning is printed with all figures.
const Warning = "These figures are computed from the events themselves, with noise that anyone can compute: they are for the data's owner.\n" +
	"Settings that were chosen by trying them on private data are outside the guarantee: choose on public or old data."

// Head begins the JSON report of numbers.
type Head struct {
	Warning string `json:"warning"`
	Events  int    `json:"events"`
	Null    int    `json:"null_events"` // number of events that count in no figure, although each takes its place in a batch
	Streams int    `json:"streams"`
	Seeds   int    `json:"seeds"`
}

// NewHead returns the head of a report, and the null events that r has counted. It fails if all events are null.
func NewHead(in Input, r *Runner, events, streams int) (h Head, reasons map[string]int, nulls string, err error) {
	h = Head{Warning: Warning, Events: events, Streams: streams, Seeds: in.Seeds}
	if h.Null, reasons, nulls = r.Nulls(); h.Null == events {
		err = NoEvents("no event counts", h.Null, nulls)
	}
	return h, reasons, nulls, err
}

// NoEventError is the error for a source of which no record is an event that can be scored or counted.
type NoEventError struct{ text string }

// Error implements error.
func (e *NoEventError) Error() string { return e.text }

// NoEvents returns a NoEventError with the number of null events and their reasons.
func NoEvents(problem string, null int, reasons string) error {
	return &NoEventError{fmt.Sprintf("%s: %d null events%s", problem, null, reasons)}
}

// Decimals formats a figure with a number of decimals. It is empty for a figure that does not exist.
func Decimals(x digits.Number, decimals int) string {
	if !x.Known() {
		return ""
	}
	return digits.Unsigned(strconv.FormatFloat(float64(x), 'f', decimals, 64))
}

// Steps formats a number of steps. It is empty for 0.
func Steps(n uint64) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatUint(n, 10)
}
