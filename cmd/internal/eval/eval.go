package eval

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"

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
