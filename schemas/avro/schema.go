package avro

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/twmb/avro"

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
	name     string   // full name of a record, enum or fixed
	unit     int64    // units of a time per second; −1: the unit is a day
	local    bool     // whether the time is of a clock without a zone, as a date is, and no instant
	decimal  bool     // whether bytes or a fixed hold a decimal
	scale    int      // digits after the point of a decimal
	size     int      // bytes of a fixed
	symbols  []string // of an enum
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
	initial    any // default value
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
	"record": recordKind, "error": recordKind, "array": arrayKind, "map": mapKind, "union": unionKind,
}

func (k kind) String() string {
	return [...]string{
		"null", "a boolean", "an int", "a long", "a float", "a double", "bytes", "a string", "a fixed", "an enum", "a record",
		"an array", "a map", "a union",
	}[k]
}

// Parse reads a schema. references are the schemas whose types the text names. A reference must come after the ones
// that it names.
func Parse(text []byte, references ...[]byte) (*Schema, error) {
	if len(references) > 0 { // a union may refer to a type that is defined before it
		text = slices.Concat([]byte("["), bytes.Join(append(slices.Clone(references), text), []byte(",")), []byte("]"))
	}
	if len(text) > maxBytes || mapping.Nesting(text, "{}[]") > maxNesting {
		return nil, fmt.Errorf("avro: a schema has at most %d bytes, and brackets nest at most %d deep", maxBytes, maxNesting)
	}
	parsed, err := avro.Parse(string(text))
	if err != nil {
		return nil, fmt.Errorf("avro: %w", err)
	}
	r := reader{named: map[string]*typ{}}
	root := r.read(parsed.Root(), "")
	if len(references) > 0 && r.err == nil {
		root = root.branches[len(references)]
	}
	for _, t := range r.all {
		if r.err == nil {
			r.measure(t, map[*typ]bool{})
		}
	}
	if r.err != nil {
		return nil, fmt.Errorf("avro: %w", r.err)
	}
	return &Schema{root}, nil
}

// reader converts the library's tree of a schema to types.
type reader struct {
	named map[string]*typ
	all   []*typ
	err   error
}

func (r *reader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf(format, args...)
	}
}

// read converts a node; space is the enclosing namespace.
func (r *reader) read(n *avro.SchemaNode, space string) *typ {
	k, known := kinds[n.Type]
	if !known {
		t := r.named[n.Type]
		if t == nil {
			t = r.named[space+"."+n.Type]
		}
		if t == nil {
			r.fail("unknown type %q", n.Type)
			t = &typ{}
		}
		return t
	}
	t := &typ{kind: k, unit: unitOf(k, n.LogicalType), size: n.Size, symbols: n.Symbols}
	if r.all = append(r.all, t); len(r.all) > maxTypes {
		r.fail("more than %d types", maxTypes)
		return t
	}
	t.local = t.unit < 0 || t.unit > 0 && strings.HasPrefix(n.LogicalType, "local-")
	if n.LogicalType == "decimal" && (k == bytesKind || k == fixedKind) {
		t.decimal, t.scale = true, n.Scale
	}
	switch k {
	case recordKind, enumKind, fixedKind:
		t.name = fullName(n)
		space = t.name[:max(strings.LastIndexByte(t.name, '.'), 0)]
		r.named[t.name] = t
	default: // other types have no name
	}
	for i := range n.Fields {
		f := &n.Fields[i]
		t.fields = append(t.fields, field{f.Name, f.Aliases, r.read(&f.Type, space), f.Default, f.HasDefault})
	}
	if n.Items != nil && k == arrayKind {
		t.items = r.read(n.Items, space)
	}
	if n.Values != nil && k == mapKind {
		t.items = r.read(n.Values, space)
	}
	for i := range n.Branches {
		t.branches = append(t.branches, r.read(&n.Branches[i], space))
	}
	return t
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

func fullName(n *avro.SchemaNode) string {
	if n.Namespace == "" || strings.Contains(n.Name, ".") {
		return n.Name
	}
	return n.Namespace + "." + n.Name
}

// errEndless is returned for a record type that contains itself in every value.
var errEndless = errors.New("no value of it ends")

// measure computes the smallest length of a value in bytes. open holds the records that enclose t.
func (r *reader) measure(t *typ, open map[*typ]bool) int {
	switch {
	case t.measured:
	case open[t]:
		r.fail("record %s holds itself: %w", t.name, errEndless)
	case t.kind == recordKind:
		open[t] = true
		least := 0
		for i := range t.fields {
			least = min(least+r.measure(t.fields[i].typ, open), maxLeast)
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
