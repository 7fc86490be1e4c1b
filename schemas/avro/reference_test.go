package avro

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/avro"

	"oriel/mechanisms/mechtest/tiertest"
	"oriel/schemas/mapping"
	"oriel/schemas/mapping/mappingtest"
	"oriel/schemas/text"
)

// both parses a schema with this package and with the library.
func both(t testing.TB, text string) (*Schema, *avro.Schema) {
	t.Helper()
	library, err := avro.Parse(text)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return parse(t, text), library
}

// referenceValues reads values with the library, which decodes the whole record.
func referenceValues(library *avro.Schema, paths []mapping.Path, record []byte) ([]mapping.Value, error) {
	var decoded any
	rest, err := library.Decode(record, &decoded)
	if err != nil || len(rest) > 0 {
		return nil, fmt.Errorf("%d bytes are left: %w", len(rest), err)
	}
	values := mappingtest.Left(len(paths))
	for i, path := range paths {
		values[i] = referenceValue(decoded, path)
	}
	return values, nil
}

func referenceValue(v any, path mapping.Path) mapping.Value {
	if len(path) > 0 {
		switch x := v.(type) {
		case map[string]any:
			if below, ok := x[path[0]]; ok {
				return referenceValue(below, path[1:])
			}
		case []any:
			var index int
			if n, _ := fmt.Sscan(path[0], &index); n == 1 && index < len(x) {
				return referenceValue(x[index], path[1:])
			}
		}
		return mapping.Value{}
	}
	number := func(f float64) mapping.Value { return mapping.Value{Kind: mapping.Number, Number: f} }
	switch x := v.(type) {
	case nil:
		return mapping.Value{Kind: mapping.Null}
	case bool:
		return mapping.Truth(x)
	case int32:
		return number(float64(x))
	case int64:
		return number(float64(x))
	case float32:
		return number(float64(x))
	case float64:
		return number(x)
	case string:
		return mapping.Value{Kind: mapping.Text, Text: []byte(x)}
	case *big.Rat:
		f, _ := x.Float64()
		return number(f)
	case json.Number:
		r, _ := new(big.Rat).SetString(string(x))
		f, _ := r.Float64()
		return number(f)
	case time.Duration: // the library's type for time-millis
		return number(float64(x / time.Millisecond))
	case time.Time:
		return mapping.Value{Kind: mapping.Time, Seconds: x.Unix(), Nanos: int32(x.Nanosecond())}
	}
	return mapping.Value{Kind: mapping.Other}
}

// drawer draws random schemas, and records of them.
type drawer struct {
	*rand.Rand
	names int
	made  []string // named types that later types may refer to
}

func (d *drawer) name(prefix string) string {
	d.names++
	return fmt.Sprintf("%s%d", prefix, d.names)
}

// schema draws a random type, in JSON.
func (d *drawer) schema(depth int) string {
	simple := []string{
		`"boolean"`, `"int"`, `"long"`, `"float"`, `"double"`, `"string"`, `"bytes"`, `"null"`,
		`{"type":"long","logicalType":"timestamp-millis"}`, `{"type":"long","logicalType":"timestamp-micros"}`,
		`{"type":"int","logicalType":"date"}`, `{"type":"bytes","logicalType":"decimal","precision":40,"scale":3}`,
		`{"type":"int","logicalType":"time-millis"}`,
	}
	n := d.IntN(12)
	if depth == 0 {
		n = d.IntN(5)
	}
	switch {
	case n == 0 && len(d.made) > 0:
		return fmt.Sprintf(`["null",%q]`, d.made[d.IntN(len(d.made))])
	case n < 4:
		return simple[d.IntN(len(simple))]
	case n == 4 && d.IntN(2) == 0:
		return fmt.Sprintf(`{"type":"enum","name":%q,"symbols":["A","B","C"]}`, d.name("E"))
	case n == 4:
		return fmt.Sprintf(`{"type":"fixed","name":%q,"size":%d}`, d.name("F"), d.IntN(4))
	case n == 5:
		return fmt.Sprintf(`{"type":"array","items":%s}`, d.schema(depth-1))
	case n == 6:
		return fmt.Sprintf(`{"type":"map","values":%s}`, d.schema(depth-1))
	case n <= 8:
		branches := []string{`"null"`, `"string"`, d.record(depth - 1)}
		d.Shuffle(3, func(i, j int) { branches[i], branches[j] = branches[j], branches[i] })
		return "[" + strings.Join(branches, ",") + "]"
	default:
		return d.record(depth - 1)
	}
}

func (d *drawer) record(depth int) string {
	name := d.name("R")
	d.made = append(d.made, name)
	var fields []string
	for k := range 1 + d.IntN(6) {
		fields = append(fields, fmt.Sprintf(`{"name":"f%d","type":%s}`, k, d.schema(max(depth, 0))))
	}
	return fmt.Sprintf(`{"type":"record","name":%q,"fields":[%s]}`, name, strings.Join(fields, ","))
}

// value appends a random value of a type.
func (d *drawer) value(b []byte, t *typ, depth int) []byte {
	switch t.kind {
	case nullKind:
		return b
	case booleanKind:
		return append(b, byte(d.IntN(2)))
	case intKind, longKind:
		x := int64(d.Uint64()) >> d.IntN(64)
		switch {
		case t.kind == intKind:
			x = int64(int32(x))
		case t.unit != 0: // keeps a time within the range of time.Time
			x %= 1e15
		}
		return binary.AppendVarint(b, x)
	case floatKind:
		return binary.LittleEndian.AppendUint32(b, d.Uint32())
	case doubleKind:
		return binary.LittleEndian.AppendUint64(b, d.Uint64())
	case fixedKind:
		return append(b, make([]byte, t.size)...)
	case enumKind:
		return binary.AppendVarint(b, int64(d.IntN(len(t.symbols))))
	case bytesKind:
		length := 1 + d.IntN(20)
		b = binary.AppendVarint(b, int64(length))
		first := d.IntN(length)
		for k := range length { // begins with bytes that only repeat the sign
			c := byte(d.Uint32())
			if k < first {
				c = byte(-(first & 1))
			}
			b = append(b, c)
		}
		return b
	case stringKind:
		text := []string{"", "a", "Zürich", "a text that is longer"}[d.IntN(4)]
		return append(binary.AppendVarint(b, int64(len(text))), text...)
	case recordKind:
		for i := range t.fields {
			b = d.value(b, t.fields[i].typ, depth-1)
		}
		return b
	case unionKind:
		branch := d.IntN(len(t.branches))
		if depth <= 0 {
			branch = max(slices.IndexFunc(t.branches, func(b *typ) bool { return b.kind == nullKind }), 0)
		}
		return d.value(binary.AppendVarint(b, int64(branch)), t.branches[branch], depth-1)
	default:
		return d.blocks(b, t, depth)
	}
}

// blocks appends an array or a map in up to three blocks, some with their size.
func (d *drawer) blocks(b []byte, t *typ, depth int) []byte {
	key := 0
	for range d.IntN(4) {
		var block []byte
		count := int64(1 + d.IntN(3))
		if depth <= 0 {
			break
		}
		for range count {
			if t.kind == mapKind {
				block = append(block, 2, byte('a'+key%4))
				key++
			}
			block = d.value(block, t.items, depth-1)
		}
		if len(block) > 0 && d.IntN(2) == 0 {
			b = binary.AppendVarint(b, -count)
			count = int64(len(block))
		}
		b = append(binary.AppendVarint(b, count), block...)
	}
	return append(b, 0)
}

// paths draws random paths at which records may have a value.
func (d *drawer) paths(t *typ, wanted int) []mapping.Path {
	var paths []mapping.Path
	for range wanted {
		p, at := mapping.Path{}, t
		for len(p) < 8 {
			switch at.kind {
			case recordKind:
				f := at.fields[d.IntN(len(at.fields))]
				p, at = append(p, f.name), f.typ
				continue
			case arrayKind:
				p, at = append(p, fmt.Sprint(d.IntN(4))), at.items
				continue
			case mapKind:
				p, at = append(p, []string{"a", "b"}[d.IntN(2)]), at.items
				continue
			case unionKind:
				at = at.branches[d.IntN(len(at.branches))]
				continue
			case nullKind, fixedKind:
			case bytesKind:
				if at.decimal {
					paths = append(paths, p)
				}
			default:
				paths = append(paths, p)
			}
			break
		}
	}
	return mappingtest.Distinct(paths)
}

// agree fails the test unless the reader and the library agree on a record, and returns whether both read it. Each
// finds some faults that the other accepts: the library also checks bytes that no path needs, but accepts booleans
// above 1 and blocks with a wrong size. strict means that the record has no fault.
func agree(
	t *testing.T, library *avro.Schema, source mapping.Source, paths []mapping.Path, record []byte, strict bool,
) bool {
	t.Helper()
	values := mappingtest.Left(len(paths))
	want, err := referenceValues(library, paths, record)
	code := source.Fill(values, record)
	if !strict && (err != nil || code != text.OK) {
		return false
	}
	if code == text.NumberOverflow && mapping.Finite(want) == code {
		return false
	}
	if err != nil || code != text.OK {
		t.Fatalf("record %x: code %v, reference: %v", record, code, err)
	}
	for i := range values {
		values[i].Local = false // the library does not say it; package mapping's test of times in every encoding does
	}
	mappingtest.Same(t, record, paths, values, want)
	return true
}

// TestReaderAgreesWithTheLibrary compares the compiled reader with the library on records of random schemas, and on
// damaged ones.
func TestReaderAgreesWithTheLibrary(t *testing.T) {
	read, damaged := 0, 0
	kinds := map[mapping.Kind]int{}
	for seed := range uint64(tiertest.Runs(40, 3000)) {
		d := &drawer{Rand: rand.New(rand.NewPCG(seed, 29))}
		text := d.record(3)
		s, library := both(t, text)
		paths := d.paths(s.root, 24)
		source, err := s.Open(paths)
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, text)
		}
		for range 100 {
			record := d.value(nil, s.root, 6)
			if agree(t, library, source, paths, record, true) {
				read++
			}
			values, _ := referenceValues(library, paths, record)
			for _, v := range values {
				kinds[v.Kind]++
			}
			if len(record) > 0 && agree(t, library, source, paths, mappingtest.Damage(d.Rand, record), false) {
				damaged++
			}
			if t.Failed() {
				t.Fatalf("seed %d:\n%s", seed, text)
			}
		}
	}
	if len(kinds) < 7 || read == 0 || damaged == 0 {
		t.Errorf("values of kinds %v, %d records, %d with damage were read: too few to tell", kinds, read, damaged)
	}
}

// FuzzRecord checks that the reader never panics, and that it reads the same values as the library.
func FuzzRecord(f *testing.F) {
	d := &drawer{Rand: rand.New(rand.NewPCG(3, 29))}
	schema, library := both(f, `{"type":"record","name":"R","fields":[
		{"name":"a","type":["null","long",{"type":"array","items":"R"}]},
		{"name":"b","type":{"type":"map","values":["string","double"]}},
		{"name":"c","type":{"type":"array","items":"null"}},
		{"name":"d","type":{"type":"bytes","logicalType":"decimal","precision":40,"scale":2}}]}`)
	paths := d.paths(schema.root, 40)
	source, err := schema.Open(paths)
	if err != nil {
		f.Fatal(err)
	}
	for range 50 {
		f.Add(d.value(nil, schema.root, 5))
	}
	f.Fuzz(func(t *testing.T, record []byte) { agree(t, library, source, paths, record, false) })
}
