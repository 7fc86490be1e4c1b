package avro

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"oriel/mechanisms/mechtest/tiertest"
	"oriel/schemas/mapping"
	"oriel/schemas/mapping/mappingtest"
	"oriel/schemas/text"
)

const order = `{"type":"record","name":"shop.Order","fields":[
	{"name":"id","type":"string"},
	{"name":"total","type":["null",{"type":"record","name":"Money","fields":[
		{"name":"units","type":"long"},{"name":"currency","type":"string"}]}]},
	{"name":"lines","type":{"type":"array","items":{"type":"record","name":"Line","fields":[
		{"name":"article","type":"string"},{"name":"count","type":"int"}]}}},
	{"name":"tags","type":{"type":"map","values":"string"}},
	{"name":"proof","type":"bytes"},
	{"name":"refund","type":["null","Money"]},
	{"name":"nulls","type":{"type":"array","items":"null"}}]}`

func parse(t testing.TB, text string) *Schema {
	t.Helper()
	s, err := Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestSchemasThatAreRefused(t *testing.T) {
	for text, want := range map[string]string{
		"":                   "avro",
		`{"type":"recrd"}`:   "recrd",
		`"shop.Order"`:       "shop.Order",
		order[:len(order)-2]: "avro",
		`{"type":"record","name":"A","fields":[{"name":"a","type":"A"}]}`: "record A holds itself",
		`{"type":"record","name":"A","fields":[{"name":"a","type":{"type":"record","name":"B",` +
			`"fields":[{"name":"a","type":"A"}]}}]}`: "holds itself",
		strings.Repeat(`{"type":"array","items":`, 300) + `"int"` + strings.Repeat("}", 300): "at most 200 deep",
		`"` + strings.Repeat("i", maxBytes) + `"`:                                            "at most 1048576 bytes",
	} {
		if _, err := Parse([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60s: %v, want %q", text, err, want)
		}
	}
}

// TestRecordsOfManyFieldsAreReadInTheTimeOfTheirBytes uses schemas of a few lines that describe a record of 2^40 fields
// of zero bytes, or of at least 2^40 bytes.
func TestRecordsOfManyFieldsAreReadInTheTimeOfTheirBytes(t *testing.T) {
	for _, leaf := range []string{"null", "double"} {
		s := fmt.Sprintf(`{"type":"record","name":"R0","fields":[{"name":"a","type":%q}]}`, leaf)
		for k := range 40 {
			s = fmt.Sprintf(`{"type":"record","name":"R%d","fields":[{"name":"a","type":%s},{"name":"b","type":"R%d"}]}`,
				k+1, s, k)
		}
		source, err := parse(t, s).Open(mappingtest.Paths(t, strings.Repeat("/a", 40)+"/a", strings.Repeat("/b", 40)+"/a"))
		if err != nil && leaf == "double" || err == nil && leaf == "null" {
			t.Fatalf("%s: %v", leaf, err)
		}
		if err != nil {
			continue // a null has no Kind
		}
		if code := source.Fill(make([]mapping.Value, 2), make([]byte, 1000)); code != text.Malformed {
			t.Errorf("a record that is too short: %v", code)
		}
	}
}

func TestPathsThatAreRefused(t *testing.T) {
	s := parse(t, order)
	for path, want := range map[string]string{
		"/totl":          "path /totl: record shop.Order has no field totl; it has id, total, lines, tags, proof, refund",
		"/total":         "path /total: record shop.Money is no value of an event: name a field of it, units, currency",
		"/total/unit":    "record shop.Money has no field unit; it has units, currency",
		"/id/x":          "path /id/x: nothing lies below a string",
		"/lines":         "an array: name the place of an item behind it",
		"/lines/first":   `"first" is no place in an array`,
		"/lines/0":       "record shop.Line is no value",
		"/tags":          "a map: name a key behind it",
		"/proof":         "bytes without the logical type decimal: no value of an event",
		"/refund/amount": "record shop.Money has no field amount",
	} {
		if _, err := s.Open(mappingtest.Paths(t, path)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
	}
	paths := mappingtest.Paths(t, "/id", "/total/units", "/lines/3/count", "/tags/x", "/refund/currency")
	if _, err := s.Open(paths); err != nil {
		t.Error(err)
	}
}

func TestHostileRecordsAreRefused(t *testing.T) {
	paths := mappingtest.Paths(t, "/id", "/total/units", "/lines/0/count", "/tags/a")
	source, err := parse(t, order).Open(paths)
	if err != nil {
		t.Fatal(err)
	}
	const most = "\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01" // varint of 2^63 − 1
	const least = "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"
	for _, c := range []struct {
		name, record string
		want         text.Code
	}{
		{"a record", "\x02a\x00\x00\x00\x00\x00\x00", text.OK},
		{"one byte more", "\x02a\x00\x00\x00\x00\x00\x00\x00", text.Malformed},
		{"one byte less", "\x02a\x00\x00\x00\x00\x00", text.Malformed},
		{"nothing", "", text.Malformed},
		{"a length beyond the end", "\x10a", text.Malformed},
		{"a negative length", "\x01a\x00\x00\x00\x00\x00\x00", text.Malformed},
		{"a length of 2^63 − 1", most + "a", text.Malformed},
		{"a varint of 11 bytes", "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", text.Malformed},
		{"a varint of 65 bits", "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", text.Malformed},
		{"an int of 33 bits", "\x02a\x00\x02\x02b\xff\xff\xff\xff\x1f\x00\x00\x00\x00\x00", text.Malformed},
		{"a branch that is none", "\x02a\x04\x00\x00\x00\x00\x00", text.Malformed},
		{"a negative branch", "\x02a\x01\x00\x00\x00\x00\x00", text.Malformed},
		{"items without end", "\x02a\x00" + most + "\x02b\x02", text.Malformed},
		{"a count of −2^63", "\x02a\x00" + least + "\x00\x00", text.Malformed},
		{"a block with a negative size", "\x02a\x00\x01\x01\x02b\x02\x00\x00\x00\x00\x00", text.Malformed},
		{"a block with a size beyond the end", "\x02a\x00\x01" + most + "\x02b\x02", text.Malformed},
		{"a block that is longer than it says", "\x02a\x00\x01\x04\x02b\x02\x00\x00\x00\x00\x00", text.Malformed},
		{"a block that is shorter than it says", "\x02a\x00\x01\x08\x02b\x02\x00\x00\x00\x00\x00", text.Malformed},
		{"a block that says it ends the record", "\x02a\x00\x01\x10\x02b\x02\x00\x00\x00\x00\x00", text.Malformed},
		{"a block with its size", "\x02a\x00\x01\x06\x02b\x02\x00\x00\x00\x00\x00", text.OK},
		{"2^62 entries", "\x02a\x00\x00" + most + "\x02k\x02v", text.Malformed},
		{"2^63 − 1 items without bytes", "\x02a\x00\x00\x00\x00\x00" + most + "\x00", text.Malformed},
		{"4096 items without bytes", "\x02a\x00\x00\x00\x00\x00\x80\x40\x00", text.OK},
		{"4097 items without bytes", "\x02a\x00\x00\x00\x00\x00\x80\x40\x02\x00", text.Malformed},
		{"invalid UTF-8", "\x02\xff\x00\x00\x00\x00\x00\x00", text.InvalidUTF8},
	} {
		mappingtest.Code(t, source, paths, c.name, c.record, c.want)
	}
}

// TestItemsOfNoBytesTakeNoTime checks that items of zero bytes are counted without being read, because a few bytes may
// repeatedly claim thousands of items.
func TestItemsOfNoBytesTakeNoTime(t *testing.T) {
	s := parse(t, `{"type":"record","name":"R","fields":[{"name":"v","type":"int"},{"name":"lists","type":
		{"type":"array","items":{"type":"array","items":{"type":"record","name":"E","fields":[]}}}}]}`)
	source, err := s.Open(mappingtest.Paths(t, "/v"))
	if err != nil {
		t.Fatal(err)
	}
	const lists = 100_000
	record := binary.AppendVarint([]byte{2}, lists)
	record = append(append(record, bytes.Repeat([]byte{0x80, 0x40, 0}, lists)...), 0)
	start := time.Now()
	if code := source.Fill(make([]mapping.Value, 1), record); code != text.OK {
		t.Error(code)
	}
	if took := time.Since(start); took > time.Second { // takes milliseconds; exponential work would take seconds
		t.Errorf("%d bytes took %v", len(record), took)
	}
}

// TestRecordsInRecordsAreBounded uses a type that contains itself. A list of 10^5 nodes must be refused, without a
// stack of 10^5 calls.
func TestRecordsInRecordsAreBounded(t *testing.T) {
	s := parse(t, `{"type":"record","name":"N","fields":[{"name":"v","type":"int"},{"name":"next","type":["null","N"]}]}`)
	source, err := s.Open(mappingtest.Paths(t, "/next/next/v"))
	if err != nil {
		t.Fatal(err)
	}
	values := make([]mapping.Value, 1)
	list := func(n int) []byte { return []byte(strings.Repeat("\x02\x02", n) + "\x02\x00") }
	if code := source.Fill(values, list(20)); code != text.OK || values[0].Number != 1 {
		t.Errorf("20 nodes: %v, %v", code, values[0])
	}
	if code := source.Fill(values, list(100_000)); code != text.TooDeep {
		t.Errorf("100000 nodes: %v", code)
	}
}

// TestDecimalIsRoundedCorrectly checks that a decimal of any size is rounded only once.
func TestDecimalIsRoundedCorrectly(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 29))
	s := &Source{digits: make([]byte, 0, 128)}
	for range 20_000 {
		b := make([]byte, 1+r.IntN(34))
		for k := range b {
			b[k] = byte(r.Uint32())
		}
		if r.IntN(2) == 0 {
			for k := range r.IntN(len(b)) {
				b[k] = byte(-int8(b[len(b)-1] & 1))
			}
		}
		scale := r.IntN(80)
		x := new(big.Int).SetBytes(b)
		if b[0]&0x80 != 0 {
			x.Sub(x, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
		}
		ten := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(scale)), nil)
		want, _ := new(big.Rat).SetFrac(x, ten).Float64()
		got, ok := s.decimal(b, scale)
		if fits := x.BitLen() < 8*maxDecimal; ok != fits || ok && got != want {
			t.Fatalf("%x·10^−%d: %v, %v, want %v, %v", b, scale, got, ok, want, fits)
		}
	}
	if _, ok := s.decimal(nil, 0); ok {
		t.Error("a decimal of no bytes is a number")
	}
}

// FuzzSchema checks that any schema file, any paths and any record are read or refused within bounds of memory.
func FuzzSchema(f *testing.F) {
	record := []byte("\x02a\x02\x02\x02b\x04\x00\x00")
	f.Add(order, record)
	f.Add(`{"type":"record","name":"N","fields":[{"name":"v","type":"int"},{"name":"next","type":["null","N"]}]}`, record)
	f.Add(`{"type":"record","name":"N","fields":[{"name":"m","type":["null",{"type":"map","values":"double"}]}]}`, record)
	f.Add(`["null",{"type":"map","values":{"type":"fixed","name":"F","size":3}}]`, record)
	f.Fuzz(func(t *testing.T, text string, record []byte) {
		var sources []mapping.Source
		var values []mapping.Value
		tiertest.Allocates(t, mappingtest.MaxSchema, func() {
			sources = nil
			s, err := Parse([]byte(text))
			if err != nil {
				return
			}
			for _, p := range mappingtest.Reach(24, s.Names) { // paths are tried singly, because most have no value
				s.At(p)
				if source, err := s.OpenVersion(s, []mapping.Path{p}); err == nil {
					sources = append(sources, source)
				}
			}
			values = make([]mapping.Value, 1)
		})
		tiertest.Allocates(t, mappingtest.Nothing, func() {
			for _, source := range sources {
				source.Fill(values, record)
			}
		})
	})
}
