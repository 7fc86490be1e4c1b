package protobuf

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"oriel/mechanisms/mechtest/tiertest"
	"oriel/schemas/mapping"
	"oriel/schemas/mapping/mappingtest"
	"oriel/schemas/text"
)

var (
	drawnField = regexp.MustCompile(`^( +)([^=]+) (f[0-9_]+) = ([0-9]+);$`)
	numeric    = regexp.MustCompile(`\b(u?int32|u?int64|sint32|sint64|s?fixed32|s?fixed64|float|double)$`)
)

// evolve returns a later version of a schema from drawSchema: fields get other names or wider types, some are removed,
// some are new, and a symbol has another name. A field number keeps its meaning.
func evolve(r *rand.Rand, text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		f := drawnField.FindStringSubmatch(strings.TrimSuffix(line, "\n"))
		if f == nil {
			b.WriteString(strings.Replace(line, " E_ONE = ", " E_UNO = ", 1))
			if strings.HasPrefix(line, "message ") {
				fmt.Fprintf(&b, "  repeated string added = %d;\n", 9000+r.IntN(5))
			}
			continue
		}
		indent, kind, name, number := f[1], f[2], f[3], f[4]
		if r.IntN(3) == 0 {
			name = "renamed_" + name
		}
		if strings.HasPrefix(kind, "map") || r.IntN(3) > 0 {
		} else if at := numeric.FindStringIndex(kind); at != nil {
			kind = kind[:at[0]] + []string{"int64", "sint64", "double", "float", "uint32"}[r.IntN(5)]
		}
		if indent == "  " && r.IntN(8) == 0 {
			continue
		}
		fmt.Fprintf(&b, "%s%s %s = %s;\n", indent, kind, name, number)
	}
	return b.String()
}

// drawVersion returns a schema, a later version of it, and a source that reads records of the later one at paths of the
// first.
func drawVersion(t testing.TB, seed uint64) (
	r *rand.Rand, reader, writer *Schema, paths []mapping.Path, source mapping.Source,
) {
	t.Helper()
	r = rand.New(rand.NewPCG(seed, 37))
	text := drawSchema(r, syntaxes[seed%3])
	later := evolve(r, text)
	reader, writer = readText(t, text, "M0"), readText(t, later, "M0")
	paths = drawPaths(r, reader.message, nil, 24)
	source, err := writer.OpenAs(reader, paths)
	if err != nil {
		t.Fatalf("seed %d: %v\n%s\n%s", seed, err, text, later)
	}
	return r, reader, writer, paths, source
}

// TestVersionsAgreeWithDynamicMessages compares values of another version with those that a dynamic message has at the
// numbers of the reader's schema.
func TestVersionsAgreeWithDynamicMessages(t *testing.T) {
	read := 0
	for seed := range uint64(tiertest.Runs(30, 3000)) {
		r, reader, writer, paths, source := drawVersion(t, seed)
		for range 100 {
			record := drawRecord(r, writer.message, 5)
			if agreeAs(t, writer, reader, source, paths, record, true) {
				read++
			}
			if len(record) > 0 {
				agreeAs(t, writer, reader, source, paths, mappingtest.Damage(r, record), false)
			}
			if t.Failed() {
				t.Fatalf("seed %d", seed)
			}
		}
	}
	if read == 0 {
		t.Fatal("no record was read")
	}
}

// FuzzVersion is FuzzRecord for records of another version.
func FuzzVersion(f *testing.F) {
	for seed := range uint64(6) {
		r, _, writer, _, _ := drawVersion(f, seed)
		f.Add(seed, drawRecord(r, writer.message, 5))
	}
	f.Fuzz(func(t *testing.T, seed uint64, record []byte) {
		_, reader, writer, paths, source := drawVersion(t, seed)
		agreeAs(t, writer, reader, source, paths, record, false)
	})
}

// reading returns the values of a record of a writer's schema at paths of a reader's, or the error.
func reading(t *testing.T, reader, writer, record string, paths ...string) string {
	t.Helper()
	read := func(fields string) *Schema {
		return readText(t, `syntax = "proto3"; import "google/protobuf/timestamp.proto"; `+fields, "A")
	}
	source, err := read(writer).OpenAs(read(reader), mappingtest.Paths(t, paths...))
	if err != nil {
		return err.Error()
	}
	values := make([]mapping.Value, len(paths))
	if code := source.Fill(values, []byte(record)); code != text.OK {
		return code.String()
	}
	var all []string
	for _, v := range values {
		switch v.Kind {
		case mapping.Number:
			all = append(all, fmt.Sprint(v.Number))
		case mapping.Text:
			all = append(all, string(v.Text))
		case mapping.Absent:
			all = append(all, "-")
		default:
			all = append(all, fmt.Sprint("kind ", v.Kind))
		}
	}
	return strings.Join(all, " ")
}

// TestFieldsOfAnotherVersionAreFoundByNumber checks that a field is identified by its number. If number and name lead
// to different fields the version is refused, because a value must not silently take the place of another.
func TestFieldsOfAnotherVersionAreFoundByNumber(t *testing.T) {
	const reader = `message A { int32 total = 1; string shop = 2; B b = 3; enum E { NONE = 0; PAID = 1; } E e = 4;
		map<string, int32> m = 5; repeated int32 l = 6; oneof o { int32 card = 7; int32 cash = 8; } }
		message B { optional int32 x = 1; }`
	for _, c := range []struct{ name, writer, record, paths, want string }{
		{"renamed", `message A { int32 amount = 1; }`, "\x08\x05", "/total", "5"},
		{"renamed and widened", `message A { int64 amount = 1; }`, "\x08\xff\xff\xff\xff\x7f", "/total", "3.4359738367e+10"},
		{"renamed, of zero", `message A { int64 amount = 1; }`, "\x12\x00", "/total", "0"},
		{"renamed, with presence", `message A { optional int32 amount = 1; }`, "", "/total", "-"},
		{"renamed in a renamed message of another type", `message A { C c = 3; } message C { optional int32 y = 1; }`, "\x1a\x02\x08\x07", "/b/x", "7"},
		{"renamed map and list", `message A { map<string, int64> n = 5; repeated int64 k = 6; }`, "\x2a\x05\x0a\x01q\x10\x03\x32\x02\x08\x09", "/m/q /l/1", "3 9"},
		{"renamed members of a oneof", `message A { oneof p { int32 visa = 7; int32 coins = 8; } }`, "\x38\x05\x40\x06", "/card /cash", "- 6"},
		{"members that another one ends", `message A { oneof p { int32 visa = 7; string more = 9; } }`, "\x38\x05\x4a\x00", "/card", "-"},
		{"a renamed symbol", `message A { enum E { NONE = 0; SETTLED = 1; LATE = 2; } E e = 4; }`, "\x20\x01", "/e", "PAID"},
		{"a symbol that is new", `message A { enum E { NONE = 0; SETTLED = 1; LATE = 2; } E e = 4; }`, "\x20\x02", "/e", "LATE"},
		{"removed", `message A { string shop = 2; }`, "\x12\x01s", "/total /shop", "- s"},
		{"a number that is given again", `message A { int32 amount = 1; int32 other = 11; }`, "\x08\x05", "/total", "5"},
		{"another number", `message A { int32 total = 9; }`, "\x48\x05", "/total", "5"},
		{"the same name and number, of another type", `message A { string total = 1; }`, "\x0a\x015", "/total", "5"},

		{"another number and type", `message A { string total = 9; }`, "", "/total", "path /total: field total (9) holds string, and field total (1) of the reader's schema int32: they are different fields"},
		{"another name and type", `message A { string note = 1; }`, "", "/total", "field note (1) holds string, and field total (1) of the reader's schema int32"},
		{"a list in its place", `message A { repeated int32 totals = 1; }`, "", "/total", "field totals (1) holds a list of int32"},
		{"a time in its place", `message A { google.protobuf.Timestamp at = 1; }`, "", "/total", "holds google.protobuf.Timestamp"},
		{"the old name on a new field", `message A { int32 net = 1; int32 total = 9; }`, "", "/total", "field total (1) of the reader's schema may be net (1) or total (9) here"},
		{"names that are exchanged", `message A { int32 cash = 7; int32 card = 8; }`, "", "/card", "may be cash (7) or card (8) here"},
		{"the name of another field", `message A { int32 cash = 7; }`, "", "/card", "field cash (7) may be card (7) or cash (8) of the reader's schema"},
		{"the number of another field", `message A { int32 card = 8; }`, "", "/card", "field card (8) may be card (7) or cash (8) of the reader's schema"},
		{"a symbol of another number", `message A { enum E { NONE = 0; PAID = 2; } E e = 4; }`, "", "/e", "path /e: PAID of enum E has the number 2, and in the reader's schema 1"},
	} {
		got := reading(t, reader, c.writer, c.record, strings.Fields(c.paths)...)
		if got != c.want && (!strings.HasPrefix(got, "path ") || !strings.Contains(got, c.want)) {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// TestClearingOfValuesIsBounded checks the limit on cleared values, for alternating members of a oneof, and for entries
// of a map with the same key.
func TestClearingOfValuesIsBounded(t *testing.T) {
	var b strings.Builder
	var paths []string
	for i := range 200 {
		fmt.Fprintf(&b, " int32 x%d = %d;", i, i+1)
		paths = append(paths, fmt.Sprintf("/wide/x%d", i), fmt.Sprintf("/by/a/x%d", i))
	}
	schema := "message A { oneof o { W wide = 1; int32 narrow = 2; } map<string, W> by = 3; } message W {" + b.String() + " }"
	paths = append(paths, "/narrow")
	for name, c := range map[string]struct{ once, twice string }{
		"oneof": {"\x0a\x00", "\x10\x01"},
		"map":   {"\x1a\x03\x0a\x01a", "\x1a\x03\x0a\x01a"},
	} {
		few, many := strings.Repeat(c.once+c.twice, 1000), strings.Repeat(c.once+c.twice, 10_000)
		if got := reading(t, schema, schema, few, paths...); got == text.Malformed.String() {
			t.Errorf("%s: a record that forgets 200 000 to 400 000 values is %s", name, got)
		}
		if got := reading(t, schema, schema, many, paths...); got != text.Malformed.String() {
			t.Errorf("%s: a record that forgets above 2 000 000 values is read", name)
		}
	}
}

// TestClearingStartsAgainWithEachRecord checks that the bound applies to each record by itself: values cleared in
// earlier records must not count, because decoding must be a function of the record's bytes.
func TestClearingStartsAgainWithEachRecord(t *testing.T) {
	schema := readText(t, `syntax = "proto3"; message A { oneof o { W wide = 1; int32 narrow = 2; } } message W { int32 x = 1; }`, "A")
	source, err := schema.Open(mappingtest.Paths(t, "/wide/x", "/narrow"))
	if err != nil {
		t.Fatal(err)
	}
	record, values := []byte(strings.Repeat("\x0a\x00\x10\x01", minClears/8)), make([]mapping.Value, 2)
	for i := range 10 {
		if code := source.Fill(values, record); code != text.OK {
			t.Fatalf("the same record is %s after %d times", code, i)
		}
	}
}
