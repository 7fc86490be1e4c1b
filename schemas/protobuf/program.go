package protobuf

import (
	"cmp"
	"slices"
	"strconv"

	"oriel/schemas/mapping"
	"oriel/schemas/mapping/calendar"
	"oriel/schemas/text"
)

// Source reads the values at fixed paths of messages of one type. It is not safe for concurrent use.
type Source struct {
	root   *message
	values []mapping.Value
	state  []int32 // by message: 1 once entered; by list: elements so far
	times  []int32 // indices of the values that are Timestamps
	dates  []int32 // indices of the values that are Dates

	numbers [][]byte // by value: space for an enum number without a symbol
	kinds   []mapping.Kinds

	cleared, maxCleared int // values and states that clear has reset in this record, and their largest number
}

// message is a message type with paths below it.
type message struct {
	state int32 // index in Source.state
	zeros []zero
	near  []*field // fields by number; nil: no path reads the field
	large []*field // fields with numbers beyond near, ascending
}

// zero is the value of a field without presence until the record sets it.
type zero struct {
	place int32
	value mapping.Value
}

// field is a field that a path needs, or a field that only clears other members of its oneof.
type field struct {
	number  uint64
	as      as
	wire    uint8
	place   int32 // index of the value; −1: none
	symbols *symbols
	child   *message // the message type; also of elements and map values without picks of their own
	list    *list
	keys    *keys
	others  []subtree // other members of the field's oneof
}

// list is a repeated field.
type list struct {
	state int32 // index in Source.state
	picks []pick
}

// pick is an element of a list that a path leads to.
type pick struct {
	index int32
	place int32 // index of the value; −1: the element is a message
	child *message
}

// keys is a map field whose keys are texts.
type keys struct{ picks []keyPick } // picked keys of a map field

type keyPick struct {
	key   []byte
	value field // field 2 of the map entry, the value
	zero  mapping.Value
	all   subtree
}

// subtree is everything below a field.
type subtree struct {
	places   []int32
	from, to int32 // range in Source.state
}

// as is the conversion of a field's bytes.
type as uint8

const (
	asNothing as = iota // the field is skipped
	asInt32
	asInt64
	asUint32
	asUint64
	asSint32
	asSint64
	asFixed32
	asFixed64
	asSfixed32
	asSfixed64
	asFloat
	asDouble
	asBool
	asEnum
	asText
	asSeconds // a google.protobuf.Timestamp; this is its field seconds
	asNanos
	asYear  // a google.type.Date; this is its field year, and stays in Seconds until the record is read
	asMonth // in Number
	asDate  // in Nanos
	asMessage
	asGroup
)

// symbols holds the names of an enum's numbers. A number without a name, for example from a newer schema, is its digits
// if the enum is open. A closed enum does not have the number, and its field counts as unknown.
type symbols struct {
	near   [][]byte // symbol by enum number; nil: the schema has none
	large  map[int32][]byte
	zero   []byte // the value of a map's entry without one, and of a field that is left out
	closed bool
}

// name returns the symbol of a number, or nil.
func (s *symbols) name(number int32) []byte {
	if number >= 0 && int(number) < len(s.near) {
		return s.near[number]
	}
	return s.large[number]
}

// symbol returns the text of an enum number for the value at place.
func (s *Source) symbol(f *field, place int32, number int32) mapping.Value {
	name := f.symbols.name(number)
	if name == nil {
		name = strconv.AppendInt(s.numbers[place][:0], int64(number), 10)
	}
	return mapping.Value{Kind: mapping.Text, Text: name}
}

// drops reports whether the varint at b[i] is a number that the field's closed enum does not have.
func (f *field) drops(b []byte, i int) bool {
	if f.symbols == nil || !f.symbols.closed {
		return false
	}
	u, next := varint(b, i)
	return next >= 0 && f.symbols.name(int32(u)) == nil
}

func (m *message) find(number uint64) *field {
	if number < uint64(len(m.near)) {
		return m.near[number]
	}
	k, found := slices.BinarySearchFunc(m.large, number, func(f *field, number uint64) int {
		return cmp.Compare(f.number, number)
	})
	if !found {
		return nil
	}
	return m.large[k]
}

// Kinds implements mapping.Typed.
func (s *Source) Kinds() []mapping.Kinds { return s.kinds }

// Fill implements mapping.Source.
func (s *Source) Fill(values []mapping.Value, record []byte) text.Code {
	clear(values)
	clear(s.state)
	s.values, s.cleared = values, 0
	_, code := s.message(s.root, record, 0)
	s.values = nil
	if code != text.OK {
		return code
	}
	for _, place := range s.times {
		if nanos := values[place].Nanos; nanos < 0 || nanos > 999_999_999 {
			return text.Malformed
		}
	}
	for _, place := range s.dates {
		if !asCalendar(&values[place]) {
			return text.Malformed
		}
	}
	return mapping.Finite(values)
}

// asCalendar turns year, month and day of a google.type.Date into a time. A date that lacks one of them, which is then
// 0, is null.
func asCalendar(v *mapping.Value) (ok bool) {
	year, month, day := v.Seconds, int64(v.Number), int64(v.Nanos)
	switch {
	case v.Kind != mapping.Time:
		return true
	case year == 0 || month == 0 || day == 0:
		*v = mapping.Value{Kind: mapping.Null}
		return true
	}
	*v = mapping.Value{Kind: mapping.Time, Local: true}
	v.Seconds, ok = calendar.Date(year, month, day)
	return ok
}

// enter is called when a message starts in the record. A message may start several times, because its parts are merged.
func (s *Source) enter(m *message) {
	if s.state[m.state] != 0 {
		return
	}
	s.state[m.state] = 1
	for i := range m.zeros {
		s.values[m.zeros[i].place] = m.zeros[i].value
	}
}

// A hostile record can name the members of a oneof in turn, or repeat a key of a map, with two bytes each time. Each
// time the reader must clear the values that it had read before. For a record it clears at most the larger of minClears
// values and clearsPerPath values per path, which takes milliseconds. An honest record clears a few values per path.
const (
	minClears     = 1 << 20
	clearsPerPath = 1 << 8
)

// clear clears the values below a field.
func (s *Source) clear(t *subtree) text.Code {
	if s.cleared += len(t.places) + int(t.to-t.from); s.cleared > s.maxCleared {
		return text.Malformed
	}
	for _, place := range t.places {
		s.values[place] = mapping.Value{}
	}
	clear(s.state[t.from:t.to])
	return text.OK
}
