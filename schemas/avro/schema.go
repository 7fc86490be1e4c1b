package avro

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"oriel/schemas/mapping"
)

// Limits of schema files.
const (
	maxBytes   = 1 << 20
	maxNesting = 200    // largest depth of brackets
	maxTypes   = 10_000 // largest number of types that are defined in place; references to named types do not count
	maxLeast   = 1 << 30
)

// Schema is the type of records that a schema file (.avsc) defines.
type Schema struct{ root *typ }

// typ is a type of a schema.
type typ struct {
	kind     kind
	index    int      // place among the types of the schema
	name     string   // full name of a record, enum or fixed
	aliases  []string // full names that a record, enum or fixed also has
	unit     int64    // units of a time per second; −1: the unit is a day
	local    bool     // whether the time is of a clock without a zone, as a date is, and no instant
	decimal  bool     // whether bytes or a fixed hold a decimal
	scale    int      // digits after the point of a decimal
	size     int      // bytes of a fixed
	symbols  []string // of an enum
	fallback string   // default symbol of an enum, for symbols that it lacks; empty: none
	fields   []field  // of a record
	items    *typ     // item type of an array, or value type of a map
	branches []*typ   // of a union
	least    int      // fewest bytes of a value, up to maxLeast; 0: all values are empty
	measured bool
}

type field struct {
	name       string
	aliases    []string
	typ        *typ
	initial    any // default value, as JSON
	hasDefault bool
}

// kind is the Avro type, without its logical type.
type kind uint8

const (
	nullKind kind = iota
	booleanKind
	intKind
	longKind
	floatKind
	doubleKind
	bytesKind
	stringKind
	fixedKind
	enumKind
	recordKind
	arrayKind
	mapKind
	unionKind
)

var kinds = map[string]kind{
	"null": nullKind, "boolean": booleanKind, "int": intKind, "long": longKind, "float": floatKind,
	"double": doubleKind, "bytes": bytesKind, "string": stringKind, "fixed": fixedKind, "enum": enumKind,
	"record": recordKind, "error": recordKind, "array": arrayKind, "map": mapKind,
}

// isPrimitive reports whether the name of the kind alone is a type.
func (k kind) isPrimitive() bool { return k <= stringKind }

func (k kind) String() string {
	return [...]string{
		"null", "a boolean", "an int", "a long", "a float", "a double", "bytes", "a string", "a fixed", "an enum", "a record",
		"an array", "a map", "a union",
	}[k]
}

// Parse reads a schema. references are the schemas whose types the text names.
func Parse(text []byte, references ...[]byte) (*Schema, error) {
	p := parser{named: map[string]*typ{}}
	texts := append(slices.Clone(references), text)
	roots := make([]*typ, len(texts))
	total := 0
	for i, one := range texts {
		if total += len(one); total > maxBytes || mapping.Nesting(one, "{}[]") > maxNesting {
			return nil, fmt.Errorf("avro: a schema has at most %d bytes, and brackets nest at most %d deep", maxBytes, maxNesting)
		}
		value, err := decode(one)
		if err != nil {
			return nil, fmt.Errorf("avro: %w", err)
		}
		p.read(&roots[i], value, "")
	}
	p.resolve()
	for _, t := range p.all {
		if p.err == nil {
			p.measure(t, map[*typ]bool{})
		}
	}
	if p.err != nil {
		return nil, fmt.Errorf("avro: %w", p.err)
	}
	return &Schema{roots[len(roots)-1]}, nil
}

// unitOf returns how many units of a logical time type make a second.
func unitOf(k kind, logical string) int64 {
	switch {
	case k == intKind && logical == "date":
		return -1
	case k != longKind:
		return 0
	}
	switch strings.TrimPrefix(logical, "local-") {
	case "timestamp-millis":
		return 1e3
	case "timestamp-micros":
		return 1e6
	case "timestamp-nanos":
		return 1e9
	}
	return 0
}

// errEndless is returned for a record type that contains itself in every value.
var errEndless = errors.New("no value of it ends")

// measure computes the smallest length of a value in bytes. open holds the records that enclose t.
func (p *parser) measure(t *typ, open map[*typ]bool) int {
	switch {
	case t.measured:
	case open[t]:
		p.fail("record %s holds itself: %w", t.name, errEndless)
	case t.kind == recordKind:
		open[t] = true
		least := 0
		for i := range t.fields {
			least = min(least+p.measure(t.fields[i].typ, open), maxLeast)
		}
		t.least = least
		delete(open, t)
	case t.kind == fixedKind:
		t.least = t.size
	case t.kind == floatKind:
		t.least = 4
	case t.kind == doubleKind:
		t.least = 8
	case t.kind != nullKind:
		t.least = 1 // at least a varint; its contents do not count, because they may contain t again
	}
	t.measured = true
	return t.least
}
