package streams

import (
	"fmt"
	"sync"

	"oriel/pipeline/kafka/fetch"
	"oriel/pipeline/kafka/records"
	"oriel/schemas/event"
	"oriel/schemas/text"
)

// The memory for decoding ahead is constant, because it must not depend on contents. Records that do not fit are
// decoded by the walk.
const (
	// aheadRecords is the largest number of records in a Batch of the fetcher.
	aheadRecords = 2 << 10

	// aheadNumbers is the number of float64s of Events: 64 for each of aheadRecords, 1 MiB.
	aheadNumbers = 64 * aheadRecords
)

// Ahead decodes records of a stream before their turn. This is possible because the result depends only on a record's
// bytes. One goroutine may use it, concurrently with the Walk that takes the records.
type Ahead struct {
	decoder event.Decoder
	event   event.Event
}

// NewAhead returns an Ahead with its own decoder.
func (s *Stream) NewAhead() (*Ahead, error) {
	decoder, err := s.opened.model.Decoder()
	return &Ahead{decoder: decoder}, err
}

// Events are the decoded events of the first records of one Batch. They are valid until Release, and do not refer to
// the Batch.
type Events struct {
	partition int32
	read      []aheadEvent
	numbers   []float64 // memory of all vectors and Numbers
	indices   []int32   // memory of all sparse vectors
}

// aheadEvent is the decoded event of one record.
type aheadEvent struct {
	offset int64
	code   text.Code
	event  event.Event // zero unless code is OK
}

var rooms = sync.Pool{New: func() any {
	return &Events{
		read:    make([]aheadEvent, 0, aheadRecords),
		numbers: make([]float64, 0, aheadNumbers),
		indices: make([]int32, 0, aheadNumbers),
	}
}}

// Release frees the memory of the Events. They must not be used afterwards.
func (e *Events) Release() { rooms.Put(e) }

// Decode decodes the first records of b, as many as fit.
func (a *Ahead) Decode(b *fetch.Batch) *Events {
	e, _ := rooms.Get().(*Events)
	a.fill(e, b)
	return e
}

// fill overwrites e with the events of b.
func (a *Ahead) fill(e *Events, b *fetch.Batch) {
	e.partition, e.read, e.numbers, e.indices = b.Partition, e.read[:0], e.numbers[:0], e.indices[:0]
	for i := range b.Records {
		r := &b.Records[i]
		if !e.append(r.Offset, decode(a.decoder, &a.event, b.Partition, r), a.event) {
			return
		}
	}
}

// decode decodes the event of a record of a partition of the input. It is the only function that decodes events.
func decode(d event.Decoder, dst *event.Event, partition int32, r *records.Record) text.Code {
	if r.Unreadable {
		return text.TooLarge
	}
	if placed, is := d.(event.PlacedDecoder); is {
		placed.At(partition, r.Offset)
	}
	return d.Decode(dst, r.Value)
}

// append copies an event into e, because the decoder owns the event's slices. It reports false if the event does not
// fit.
func (e *Events) append(offset int64, code text.Code, event event.Event) bool {
	if len(e.read) == cap(e.read) {
		return false
	}
	if code != text.OK {
		e.read = append(e.read, aheadEvent{offset: offset, code: code})
		return true
	}
	v := &event.Vector
	if len(v.Values)+len(event.Numbers) > cap(e.numbers)-len(e.numbers) || len(v.Indices) > cap(e.indices)-len(e.indices) {
		return false
	}
	e.numbers, v.Values = keep(e.numbers, v.Values)
	e.numbers, event.Numbers = keep(e.numbers, event.Numbers)
	e.indices, v.Indices = keep(e.indices, v.Indices)
	e.read = append(e.read, aheadEvent{offset, code, event})
	return true
}

// keep appends x to room and returns the copy. A nil slice stays nil, because a vector without indices is dense.
func keep[T any](room, x []T) (grown, kept []T) {
	if x == nil {
		return room, nil
	}
	from := len(room)
	room = append(room, x...)
	return room, room[from:len(room):len(room)]
}

// of returns the event of the i-th record of a Batch, or nil if it was not decoded. A nil Events has no decoded events.
func (e *Events) of(b *fetch.Batch, i int) *aheadEvent {
	if e == nil || i >= len(e.read) {
		return nil
	}
	if at := b.Records[i].Offset; e.partition != b.Partition || e.read[i].offset != at {
		panic(fmt.Sprintf("BUG: pipeline: the event of partition %d at offset %d for the record of partition %d at offset %d",
			e.partition, e.read[i].offset, b.Partition, at))
	}
	return &e.read[i]
}
