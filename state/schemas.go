package state

import (
	"encoding/binary"
	"math"
	"slices"

	"oriel/state/frame"
)

// Schemas are the writers' schemas by which a stream decodes its events, each with its id in a registry, in the order
// in which they were frozen. They are public. They are authenticated because decoding must not change: after a crash a
// record may be decoded again, and must then give the same event.
//
//	format u8 ‖ kind u8 ‖ number of schemas u32 ‖ schemas ‖ HMAC-SHA-256(key, stream var ‖ all bytes before) 32 ‖ CRC-32C u32
//
// with a schema as
//
//	id u32 ‖ text var ‖ references u32 ‖ for each: name var ‖ text var ‖ since u8 (0 always, 1 from offsets, 2 never)
//	‖ [offsets u32 ‖ for each, partitions ascending: partition i32 ‖ offset i64]
type Schemas []Schema

// Schema is one writer's schema, whose id records name. It is known from some offset of each partition on. Earlier
// records with its id are null events, as they were when they were first processed.
type Schema struct {
	ID         uint32
	Text       string            // text of the schema in the registry
	References []SchemaReference // schemas that the text names, each after the schemas that it names itself
	Since      []SchemaSince     // by input partition, ascending: where the schema became known; nil: from the start
	LeftOut    bool              // records with the id are null events, because somebody chose so; Since is nil
}

// SchemaReference is a schema that other schemas refer to: the name by which they refer to it, and its text.
type SchemaReference struct{ Name, Text string }

// SchemaSince is the first offset of a partition at which a schema is known.
type SchemaSince struct {
	Partition int32
	Offset    int64
}

// Known reports whether the record at an offset of an input partition is decoded by the schema. In a partition that was
// added to the input after the schema was frozen, the schema is known from the first record on.
func (s *Schema) Known(partition int32, offset int64) bool {
	if s.LeftOut {
		return false
	}
	i, found := slices.BinarySearchFunc(s.Since, partition, func(f SchemaSince, partition int32) int {
		return int(f.Partition) - int(partition)
	})
	return !found || offset >= s.Since[i].Offset
}

// Read returns the schemas without those that are left out.
func (s Schemas) Read() Schemas {
	return slices.DeleteFunc(slices.Clone(s), func(one Schema) bool { return one.LeftOut })
}

// Find returns the frozen schema with this id, or nil.
func (s Schemas) Find(id uint32) *Schema {
	for i := range s {
		if s[i].ID == id {
			return &s[i]
		}
	}
	return nil
}

// Seal returns the record of a stream's schemas.
func (s Schemas) Seal(key [32]byte, stream string) []byte {
	if !s.valid() {
		panic("BUG: state: schemas that no record can hold")
	}
	b := frame.AppendHeader(nil, frame.KindSchemas)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(s)))
	for _, schema := range s {
		b = binary.LittleEndian.AppendUint32(b, schema.ID)
		b = frame.AppendVariable(b, schema.Text)
		b = binary.LittleEndian.AppendUint32(b, uint32(len(schema.References)))
		for _, r := range schema.References {
			b = frame.AppendVariable(frame.AppendVariable(b, r.Name), r.Text)
		}
		if schema.Since == nil {
			b = append(b, map[bool]byte{false: 0, true: 2}[schema.LeftOut])
			continue
		}
		b = binary.LittleEndian.AppendUint32(append(b, 1), uint32(len(schema.Since)))
		for _, since := range schema.Since {
			b = binary.LittleEndian.AppendUint32(b, uint32(since.Partition))
			b = binary.LittleEndian.AppendUint64(b, uint64(since.Offset))
		}
	}
	return frame.CloseAuthentic(b, key, stream)
}

// OpenSchemas opens a record that Seal made with the same key for the same stream. Errors: ErrFormat, ErrCorrupt,
// ErrForeign.
func OpenSchemas(b []byte, key [32]byte, stream string) (Schemas, error) {
	r, err := frame.OpenAuthentic(b, frame.KindSchemas, key, stream)
	if err != nil {
		return nil, err
	}
	schemas := readSchemas(&r)
	if !r.Done() || !schemas.valid() {
		return nil, frame.Malformed(frame.KindSchemas)
	}
	return schemas, nil
}

func readSchemas(r *frame.Reader) Schemas {
	var schemas Schemas
	for n := r.Uint32(); n > 0 && !r.Bad; n-- {
		s := Schema{ID: r.Uint32(), Text: string(r.Variable())}
		for n := r.Uint32(); n > 0 && !r.Bad; n-- {
			s.References = append(s.References, SchemaReference{string(r.Variable()), string(r.Variable())})
		}
		switch r.Uint8() {
		case 0:
		case 1:
			s.Since = []SchemaSince{}
			for n := r.Uint32(); n > 0 && !r.Bad; n-- {
				s.Since = append(s.Since, SchemaSince{int32(r.Uint32()), int64(r.Uint64())})
			}
		case 2:
			s.LeftOut = true
		default:
			r.Bad = true
		}
		schemas = append(schemas, s)
	}
	return schemas
}

// valid reports whether no id is frozen twice, and offsets are within their bounds, with partitions ascending.
func (s Schemas) valid() bool {
	seen := map[uint32]bool{}
	for _, schema := range s {
		last := int32(-1)
		for _, since := range schema.Since {
			if since.Partition <= last || since.Offset < 0 {
				return false
			}
			last = since.Partition
		}
		if seen[schema.ID] || schema.LeftOut && schema.Since != nil {
			return false
		}
		seen[schema.ID] = true
	}
	return len(s) <= math.MaxInt32
}
