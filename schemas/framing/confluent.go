package framing

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"oriel/schemas/mapping"
	"oriel/schemas/text"
)

// headerBytes is the length of the magic byte and the id.
const headerBytes = 5

// maxIndex bounds the nesting of a message type in others, as maxNesting of schemas/protobuf does.
const maxIndex = 100

// Header splits the header of Confluent's framing from a record.
func Header(record []byte) (id uint32, rest []byte, ok bool) {
	if len(record) < headerBytes || record[0] != 0 {
		return 0, nil, false
	}
	return binary.BigEndian.Uint32(record[1:]), record[headerBytes:], true
}

// Entry is a schema that records may name.
type Entry struct {
	ID    uint32
	Index []int              // for Protobuf: index path of the message type in its file; nil for other formats
	Open  mapping.OpenSource // opens a source for records of this schema

	// Known reports whether the record at an offset of an input partition may name the id. nil means that every record
	// may.
	Known func(partition int32, offset int64) bool
}

// Table holds the schemas that records may name.
type Table struct{ entries []Entry }

// NewTable returns a table, or an error that names a duplicate id.
func NewTable(entries []Entry) (*Table, error) {
	entries = slices.Clone(entries)
	slices.SortFunc(entries, func(a, b Entry) int { return cmp.Compare(a.ID, b.ID) })
	for k := 1; k < len(entries); k++ {
		if entries[k].ID == entries[k-1].ID {
			return nil, fmt.Errorf("framing: id %d is given twice", entries[k].ID)
		}
	}
	return &Table{entries}, nil
}

// find returns the index of the entry with an id that is known at an offset, or −1.
func (t *Table) find(id uint32, partition int32, offset int64) int {
	k, found := slices.BinarySearchFunc(t.entries, id, func(e Entry, id uint32) int { return cmp.Compare(e.ID, id) })
	if !found || t.entries[k].Known != nil && !t.entries[k].Known(partition, offset) {
		return -1
	}
	return k
}

// Open returns a Source of records in Confluent's framing. The error names the ids whose schemas lack a path.
func (t *Table) Open(paths []mapping.Path) (mapping.Source, error) {
	s := &Source{table: t}
	var errs []error
	for _, e := range t.entries {
		source, err := e.Open(paths)
		if err != nil {
			errs = append(errs, fmt.Errorf("schema id %d: %w", e.ID, err))
		}
		s.sources = append(s.sources, source)
	}
	return s, errors.Join(errs...)
}

// Source reads records in Confluent's framing. It is not safe for concurrent use.
type Source struct {
	table     *Table
	sources   []mapping.Source // opened source of each table entry
	partition int32
	offset    int64
	id        uint32 // id in the last record
	blamed    bool   // the schema is the reason why the last record has no event
	typed     bool   // its id is known, so it is the message type that is not
}

// At implements mapping.PlacedSource.
func (s *Source) At(partition int32, offset int64) { s.partition, s.offset = partition, offset }

// Fill implements mapping.Source.
func (s *Source) Fill(values []mapping.Value, record []byte) text.Code {
	code := s.fill(values, record)
	s.blamed = code == text.UnknownSchema || code == text.Unresolved
	return code
}

func (s *Source) fill(values []mapping.Value, record []byte) text.Code {
	id, rest, ok := Header(record)
	s.id, s.typed = id, false
	if !ok {
		return text.UnknownFraming
	}
	k := s.table.find(id, s.partition, s.offset)
	if k < 0 {
		return text.UnknownSchema
	}
	if index := s.table.entries[k].Index; index != nil {
		same := false
		if rest, same, ok = cutIndex(rest, index); !ok {
			return text.UnknownFraming
		}
		if !same {
			s.typed = true
			return text.UnknownSchema
		}
	}
	return s.sources[k].Fill(values, rest)
}

// Place implements mapping.Placer. It returns the id of a schema that is not known, whose message type is another, or
// that does not fit the schema of the reader.
func (s *Source) Place() string {
	switch {
	case !s.blamed:
		return ""
	case s.typed:
		return fmt.Sprintf("id %d is known, but the message type is another than ORIEL_SCHEMA_MESSAGE", s.id)
	}
	return fmt.Sprintf("id %d", s.id)
}

// cutIndex reads the index of a message type after a header, and reports whether it is the wanted one.
func cutIndex(b []byte, want []int) (rest []byte, same, ok bool) {
	k := 0
	same = true
	rest, ok = eachPlace(b, func(place int64) {
		same = same && k < len(want) && place == int64(want[k])
		k++
	})
	return rest, same && k == len(want), ok
}

// Index reads the index of a message type in its file, which follows the header of a Protobuf record.
func Index(rest []byte) (index []int, ok bool) {
	within := true
	_, ok = eachPlace(rest, func(place int64) {
		if within = within && place >= 0 && place <= 1<<16 && len(index) < maxIndex; within {
			index = append(index, int(place))
		}
	})
	return index, ok && within
}

// eachPlace calls f for each number of the index after a header, from the outermost message, and returns the bytes that
// follow.
func eachPlace(b []byte, f func(place int64)) (rest []byte, ok bool) {
	count, n := binary.Varint(b)
	if n <= 0 || count < 0 || count > int64(len(b)) {
		return nil, false
	}
	b = b[n:]
	if count == 0 { // one byte 0 abbreviates the list [0]
		f(0)
	}
	for range count {
		place, n := binary.Varint(b)
		if n <= 0 {
			return nil, false
		}
		b = b[n:]
		f(place)
	}
	return b, true
}
