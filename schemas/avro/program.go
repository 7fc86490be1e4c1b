package avro

import (
	"oriel/schemas/mapping"
	"oriel/schemas/text"
)

// Source reads the values at fixed paths of records of one schema. It is not safe for concurrent use.
type Source struct {
	root   *node
	kinds  []mapping.Kinds
	values []mapping.Value
	digits []byte // scratch for the text of a decimal
}

// node is a type at a position of the schema: one that paths read, or one that is skipped.
type node struct {
	*typ
	place    int32    // index of the value; −1: no path reads it
	foreign  bool     // the reader's schema has no such type
	symbols  [][]byte // the reader's symbols; nil: it has none for a symbol of the writer
	fields   []*node
	initial  []initial // defaults of fields that the writer's schema lacks
	items    *node     // type of the items that no path reads
	picks    []pick
	keys     []key // picked keys of a map, by key
	branches []*node
}

type initial struct {
	place int32
	value mapping.Value
}

// pick is an item of an array that a path leads to.
type pick struct {
	index int64
	node  *node
}

// key is an entry of a map that a path leads to.
type key struct {
	name   []byte
	node   *node
	places []int32 // indices of all values below the node
}

// Kinds implements mapping.Typed.
func (s *Source) Kinds() []mapping.Kinds { return s.kinds }

// Fill implements mapping.Source.
func (s *Source) Fill(values []mapping.Value, record []byte) text.Code {
	clear(values)
	s.values = values
	next, code := s.read(s.root, record, 0, 0)
	s.values = nil
	switch {
	case code != text.OK:
		return code
	case next != len(record):
		return text.Malformed
	}
	return mapping.Finite(values)
}
