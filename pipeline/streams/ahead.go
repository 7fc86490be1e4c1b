package streams

import (
	"fmt"
	"sync"

	"oriel/pipeline/kafka/fetch"
	"oriel/pipeline/kafka/records"
	"oriel/schemas/event"
	"oriel/schemas/text"
	"oriel/state/users"
)

// The memory for decoding ahead is constant, because it must not depend on contents. Records that do not fit are
// decoded by the walk.
const (
	// aheadRecords is the largest number of records in a Batch of the fetcher.
	aheadRecords = 2 << 10

	// aheadNumbers is the number of float64s of Events: 64 for each of aheadRecords, 1 MiB.
	aheadNumbers = 64 * aheadRecords

	// aheadBytes holds a name for each of aheadRecords, 512 KiB.
	aheadBytes = text.MaxNameBytes * aheadRecords
)

// Ahead decodes records of a stream, and hashes their users, before their turn. This is possible because the result
// depends only on a record's bytes. One goroutine may use it, concurrently with the Walk that takes the records.
type Ahead struct {
	decoder event.Decoder
	event   event.Event
	users   *Users        // nil if the stream remembers no users
	hasher  *users.Hasher // under the stream's secret
}

// NewAhead returns an Ahead with its own decoder. The stream must be restored BEFORE.
func (s *Stream) NewAhead() (*Ahead, error) {
	decoder, err := s.opened.model.Decoder()
	a := &Ahead{decoder: decoder}
	if s.people != nil {
		a.users, a.hasher = s.opened.model.Users, s.people.Clone()
	}
	return a, err
}

// Events are the decoded events of the first records of one Batch. They are valid until Release, and do not refer to
// the Batch.
type Events struct {
	partition int32
	read      []aheadEvent
	users     []users.ID // of each record in read, if the stream remembers users; zeros if the record names none
	numbers   []float64  // memory of all vectors and Numbers
	indices   []int32    // memory of all sparse vectors
	names     []byte     // memory of all names
}

// aheadEvent is the decoded event of one record.
type aheadEvent struct {
	offset int64
	code   text.Code
	event  event.Event // zero unless code is OK
	named  bool        // the record names a user
}

var rooms = sync.Pool{New: func() any {
	return &Events{
		read:    make([]aheadEvent, 0, aheadRecords),
		users:   make([]users.ID, 0, aheadRecords),
		numbers: make([]float64, 0, aheadNumbers),
		indices: make([]int32, 0, aheadNumbers),
		names:   make([]byte, 0, aheadBytes),
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
	e.partition, e.read, e.users, e.names = b.Partition, e.read[:0], e.users[:0], e.names[:0]
	e.numbers, e.indices = e.numbers[:0], e.indices[:0]
	for i := range b.Records {
		r := &b.Records[i]
		if !e.append(r.Offset, decode(a.decoder, &a.event, b.Partition, r), a.event) {
			return
		}
		if a.users != nil {
			of := a.users.of(r, a.hasher.ID)
			e.read[i].named, e.users = of.named, append(e.users, of.id)
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
	e.names, event.Name = keep(e.names, event.Name)
	e.read = append(e.read, aheadEvent{offset: offset, code: code, event: event})
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

// warmed is the number of records for whose users the walk prepares together.
const warmed = 64

// warm prepares the stream for the users of the i-th record and of those behind it.
func (e *Events) warm(s *Stream, i int) {
	if e != nil && s.periods != nil && i%warmed == 0 && i < len(e.users) {
		s.periods.Warm(e.users[i:min(i+warmed, len(e.users))])
	}
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
