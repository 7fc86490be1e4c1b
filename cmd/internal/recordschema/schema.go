package recordschema

import (
	"crypto/sha256"
	"fmt"

	"oriel/schemas/avro"
	"oriel/schemas/framing"
	"oriel/schemas/mapping"
	"oriel/schemas/protobuf"
)

// Schema is a schema of records in Avro or Protobuf.
type Schema struct {
	Digest  [sha256.Size]byte // digest of the schema's files
	Message string            // Protobuf message type; empty for Avro

	fields
	index    []int            // index path of the Protobuf message type; nil for Avro
	avro     *avro.Schema     // nil for Protobuf
	protobuf *protobuf.Schema // nil for Avro
}

// fields describes the fields of a schema, whatever its language.
type fields interface {
	// At implements mapping.Layout.
	At(p mapping.Path) (s mapping.Shape, fields []string)

	// Names returns the names of all fields of the record at a path, or none if the path has no record.
	Names(p mapping.Path) []string

	// KindAt returns the kind that all values at a path have, or mapping.Absent if it is not known.
	KindAt(p mapping.Path) mapping.Kind
}

// Schema parses the files in the language of a format. message names the type of Protobuf records; it may be empty if
// the file has only one.
func (f Files) Schema(format, message string) (*Schema, error) {
	if format == Avro {
		return f.avro()
	}
	read, err := protobuf.Read(f.Name, message, f.Read)
	if err != nil {
		return nil, err
	}
	h := sha256.New()
	for _, f := range read.Files() {
		fmt.Fprintf(h, "%d %d %s", len(f.Name), len(f.Content), f.Name)
		h.Write(f.Content)
	}
	return &Schema{
		Digest: [sha256.Size]byte(h.Sum(nil)), Message: read.Name(), fields: read, index: read.Index(), protobuf: read,
	}, nil
}

func (f Files) avro() (*Schema, error) {
	text, err := f.Read(f.Name)
	if err != nil {
		return nil, err
	}
	read, err := avro.Parse(text, f.references...)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Name, err)
	}
	return &Schema{Digest: sha256.Sum256(text), fields: read, avro: read}, nil
}

// Open returns a reader of the values at paths in records of the schema.
func (s *Schema) Open(paths []mapping.Path) (mapping.Source, error) {
	return s.OpenAs(s)(paths)
}

// OpenAs returns a function that opens a reader of records of s. Paths name fields of the schema reader, which may be s
// itself.
func (s *Schema) OpenAs(reader *Schema) mapping.OpenSource {
	return func(paths []mapping.Path) (mapping.Source, error) {
		switch {
		case s.protobuf != nil:
			return s.protobuf.OpenAs(reader.protobuf, paths)
		case s == reader:
			return s.avro.Open(paths)
		}
		return s.avro.OpenVersion(reader.avro, paths)
	}
}

// Entry returns how to read records that name this schema by id. Paths name fields of the reader's schema.
func (s *Schema) Entry(id uint32, reader *Schema) framing.Entry {
	return framing.Entry{ID: id, Index: s.index, Open: s.OpenAs(reader)}
}
