package avro

import (
	"encoding/binary"
	"math"
	"slices"
	"strings"
	"testing"

	"oriel/schemas/mapping"
	"oriel/schemas/mapping/mappingtest"
	"oriel/schemas/text"
)

// rec returns the schema of a record with an amount and further fields.
func rec(name string, fields ...string) string {
	return `{"type":"record","name":"` + name + `","fields":[` +
		strings.Join(append([]string{`{"name":"amount","type":"double"}`}, fields...), ",") + `]}`
}

func channel(initial string) string {
	return `{"name":"channel","type":"string","default":"` + initial + `"}`
}

func union(branches ...string) string { return "[" + strings.Join(branches, ",") + "]" }

func aliased(schema, alias string) string {
	return strings.Replace(schema, `"fields"`, `"aliases":["`+alias+`"],"fields"`, 1)
}

// amountOf returns the bytes of a record of rec without further fields, as a branch of a union.
func amountOf(branch int, more ...byte) []byte {
	b := binary.LittleEndian.AppendUint64([]byte{byte(2 * branch)}, math.Float64bits(2.5))
	return append(b, more...)
}

// TestARecordHasTheDefaultsOfItsOwnType reads older records, and records with another order of branches, of topics with
// several types of events. A record must never get a default of another type.
func TestARecordHasTheDefaultsOfItsOwnType(t *testing.T) {
	placed, cancelled, refunded := rec("s.Placed"), rec("s.Cancelled"), rec("s.Refunded")
	web, phone := rec("s.Placed", channel("web")), rec("s.Cancelled", channel("phone"))
	shop := rec("s.Refunded", channel("shop"))
	ordered := func(name, alias string) string { return aliased(rec(name, channel("web")), alias) }
	twice := union(rec("t.Placed", channel("x")), rec("u.Placed", channel("y")))
	for _, c := range []struct {
		name, reader, writer string
		branch               int
		want                 string // text at /channel; empty: absent; ?: unresolved
	}{
		{"two types, the first", union(web, phone), union(placed, cancelled), 0, "web"},
		{"two types, the second", union(web, phone), union(placed, cancelled), 1, "phone"},
		{"the reader's in another order", union(phone, web), union(placed, cancelled), 0, "web"},
		{"the writer's in another order", union(web, phone), union(cancelled, placed), 0, "phone"},
		{"three types", union(web, phone, shop), union("\"null\"", refunded, placed, cancelled), 1, "shop"},
		{"a type without the field", union(web, cancelled), union(placed, cancelled), 1, ""},
		{"a type that has lost the field", union(web, cancelled), union(placed, rec("s.Cancelled", channel("x"))), 1, ""},
		{"a type that the reader lacks", union(web, phone), union(placed, cancelled, refunded), 2, "?"},
		{"a record, and the reader has a union", union(phone, web), union(placed), 0, "web"},
		{"a union, and the reader has a record", web, union(cancelled, placed), 1, "web"},
		{"a union, and the reader has another record", web, union(cancelled, placed), 0, "?"},
		{"an alias in the reader's schema", union(phone, ordered("s.Ordered", "Placed")), union(placed, cancelled), 0, "web"},
		{"a qualified alias", union(phone, ordered("t.Ordered", "s.Placed")), union(placed, cancelled), 0, "web"},
		{"an alias of another namespace", union(phone, ordered("t.Ordered", "Placed")), union(placed, cancelled), 0, "?"},
		{"an alias in the writer's", union(phone, web), union(cancelled, aliased(rec("s.Ordered"), "Placed")), 1, "web"},
		{"a name counts before an alias", union(aliased(phone, "s.Placed"), web), union(placed), 0, "web"},
		{"another namespace", union(phone, rec("t.Placed", channel("web"))), union(placed, cancelled), 0, "web"},
		{"no namespace", union(phone, rec("Placed", channel("web"))), union(placed, cancelled), 0, "web"},
		{"full names count first", union(rec("t.Placed", channel("x")), web), union(placed), 0, "web"},
		{"two of one unqualified name in the reader's", twice, union(cancelled, placed), 1, "?"},
		{"two of one unqualified name in the writer's", web, union(placed, rec("t.Placed")), 1, "?"},
	} {
		paths := mappingtest.Paths(t, "/amount", "/channel")
		source, err := parse(t, c.writer).OpenVersion(parse(t, c.reader), paths)
		if err != nil {
			if c.want != "?" {
				t.Errorf("%s: %v", c.name, err)
			}
			continue
		}
		record := amountOf(c.branch)
		if strings.Contains(c.writer, `"x"`) && c.branch == 1 {
			record = append(record, 2, 'x')
		}
		values := mappingtest.Left(2)
		code := source.Fill(values, record)
		got := string(values[1].Text)
		switch missing := values[1].Kind == mapping.Absent; {
		case c.want == "?":
			if code != text.Unresolved {
				t.Errorf("%s: %v", c.name, code)
			}
		case code != text.OK || values[0].Number != 2.5 || got != c.want || (got == "") != missing:
			t.Errorf("%s: %v, %+v, want %q", c.name, code, values, c.want)
		}
		mappingtest.Code(t, source, paths, c.name, string(record), code)
	}
}

// TestNestedUnionsOfRecordsAreResolved reads unions in records, arrays and maps.
func TestNestedUnionsOfRecordsAreResolved(t *testing.T) {
	outer := func(events string) string {
		return `{"type":"record","name":"Outer","fields":[{"name":"one","type":` + events + `},
			{"name":"list","type":{"type":"array","items":["s.Placed","s.Cancelled"]}},
			{"name":"map","type":{"type":"map","values":["null","s.Cancelled","s.Placed"]}}]}`
	}
	reader := parse(t, outer(union(rec("s.Cancelled", channel("phone")), rec("s.Placed", channel("web")))))
	writer := parse(t, outer(union(rec("s.Placed"), rec("s.Cancelled"))))
	paths := mappingtest.Paths(t, "/one/channel", "/list/0/channel", "/list/1/channel", "/map/k/channel")
	source, err := writer.OpenVersion(reader, paths)
	if err != nil {
		t.Fatal(err)
	}
	list := slices.Concat([]byte{4}, amountOf(0), amountOf(1), []byte{0})
	record := slices.Concat(amountOf(1), list, []byte{2, 2, 'k'}, amountOf(2), []byte{0})
	values := mappingtest.Left(4)
	if code := source.Fill(values, record); code != text.OK {
		t.Fatal(code)
	}
	for k, want := range []string{"phone", "web", "phone", "web"} {
		if string(values[k].Text) != want {
			t.Errorf("%s: %q, want %q", paths[k], values[k].Text, want)
		}
	}
}

func TestSymbolsThatTheReaderLacks(t *testing.T) {
	enum := func(name, symbols, more string) string {
		return `{"type":"record","name":"R","fields":[{"name":"e","type":{"type":"enum","name":"` + name + `","symbols":[` + symbols + `]` + more + `}}]}`
	}
	for _, c := range []struct{ name, reader, want string }{
		{"the reader's default", enum("E", `"UNKNOWN","NEW"`, `,"default":"NEW"`), "NEW"},
		{"a symbol that both have", enum("E", `"OTHER","REFUNDED"`, `,"default":"OTHER"`), "REFUNDED"},
		{"no default", enum("E", `"UNKNOWN","NEW"`, ""), "?"},
		{"a default that is no symbol", enum("E", `"UNKNOWN","NEW"`, `,"default":"X"`), "?"},
		{"an alias", enum("F", `"UNKNOWN"`, `,"aliases":["E"],"default":"UNKNOWN"`), "UNKNOWN"},
		{"a text", `{"type":"record","name":"R","fields":[{"name":"e","type":["null","string"]}]}`, "REFUNDED"},
		{"another enum", enum("F", `"UNKNOWN","REFUNDED"`, ""), "!"},
	} {
		writer := parse(t, enum("E", `"UNKNOWN","NEW","REFUNDED"`, `,"default":"UNKNOWN"`))
		paths := mappingtest.Paths(t, "/e")
		source, err := writer.OpenVersion(parse(t, c.reader), paths)
		if err != nil || c.want == "!" {
			if c.want != "!" || err == nil || !strings.Contains(err.Error(), "path /e: an enum E has no counterpart in the reader's schema") {
				t.Errorf("%s: %v", c.name, err)
			}
			continue
		}
		values := mappingtest.Left(1)
		code := source.Fill(values, []byte{4})
		read := code == text.OK && string(values[0].Text) == c.want
		if c.want == "?" && code != text.Unresolved || c.want != "?" && !read {
			t.Errorf("%s: %v, %q", c.name, code, values[0].Text)
		}
	}
}

// TestTypesInReferences parses the usual schemas of topics with several types of events: a union of types that other
// schemas define.
func TestTypesInReferences(t *testing.T) {
	money := `{"type":"record","name":"s.Money","fields":[{"name":"units","type":"long"}]}`
	placed := rec("s.Placed", `{"name":"total","type":["null","Money"]}`)
	s, err := Parse([]byte(`["s.Placed","s.Cancelled"]`), []byte(money), []byte(placed), []byte(rec("s.Cancelled", channel("x"))))
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(s.Names(nil), " "); got != "amount total channel" {
		t.Errorf("fields %s", got)
	}
	source, err := s.Open(mappingtest.Paths(t, "/amount", "/total/units", "/channel"))
	if err != nil {
		t.Fatal(err)
	}
	values := mappingtest.Left(3)
	amount := mapping.Value{Kind: mapping.Number, Number: 2.5}
	for _, c := range []struct {
		record []byte
		want   []mapping.Value
	}{
		{amountOf(0, 2, 14), []mapping.Value{amount, {Kind: mapping.Number, Number: 7}, {}}},
		{amountOf(1, 2, 'w'), []mapping.Value{amount, {}, {Kind: mapping.Text, Text: []byte("w")}}},
	} {
		if code := source.Fill(values, c.record); code != text.OK {
			t.Error(code)
		}
		mappingtest.Same(t, c.record, mappingtest.Paths(t, "/amount", "/total/units", "/channel"), values, c.want)
	}
	for _, text := range []string{`"s.Placed"`, `{"type":"s.Placed"}`, `{"type":"array","items":"s.Placed"}`} {
		if _, err := Parse([]byte(text), []byte(money), []byte(placed)); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	if _, err := Parse([]byte(`["s.Placed","s.Lost"]`), []byte(money), []byte(placed)); err == nil || !strings.Contains(err.Error(), `unknown type "s.Lost"`) {
		t.Errorf("%v", err)
	}
}

// TestFieldsOfAllRecordsOfAUnion checks what a proposal of a mapping sees.
func TestFieldsOfAllRecordsOfAUnion(t *testing.T) {
	s := parse(t, union(`"null"`, rec("A", channel(""), `{"name":"in","type":{"type":"record","name":"X","fields":[{"name":"x","type":"int"}]}}`),
		rec("B", `{"name":"reason","type":"string"}`, `{"name":"in","type":["string",{"type":"record","name":"Y","fields":[{"name":"y","type":"int"}]}]}`,
			`{"name":"channel","type":"int"}`)))
	for path, want := range map[string]string{"": "amount channel in reason", "/in": "x y", "/reason": ""} {
		p := mapping.Path(nil)
		if path != "" {
			p = mappingtest.Paths(t, path)[0]
		}
		if got := strings.Join(s.Names(p), " "); got != want {
			t.Errorf("%q: %s, want %s", path, got, want)
		}
	}
	for path, want := range map[string]mapping.Kind{
		"/amount": mapping.Number, "/reason": mapping.Text, "/channel": mapping.Absent, "/in": mapping.Absent,
		"/in/y": mapping.Number, "/no": mapping.Absent,
	} {
		if got := s.KindAt(mappingtest.Paths(t, path)[0]); got != want {
			t.Errorf("%s: %v, want %v", path, got, want)
		}
	}
	shape, fields := s.At(nil)
	if shape != mapping.RecordShape || strings.Join(fields, " ") != "amount channel reason in" {
		t.Errorf("%v %v", shape, fields)
	}
}

// TestWhatNoPathReadsIsNotRefused parses schemas that registries accept, and reads a record of each.
func TestWhatNoPathReadsIsNotRefused(t *testing.T) {
	const v = `{"name":"v","type":"int"}`
	plain := `{"type":"record","name":"R","fields":[` + v + `]}`
	field := func(more string) string {
		return `{"type":"record","name":"R","fields":[` + v + `,{"name":"x","type":` + more + `}]}`
	}
	for _, c := range []struct{ name, schema, rest string }{
		{"- in the namespace", strings.Replace(plain, `"R"`, `"R","namespace":"my-app.orders"`, 1), ""},
		{"$ in the namespace", strings.Replace(plain, `"R"`, `"R","namespace":"com.Outer$"`, 1), ""},
		{"- in a name", strings.Replace(plain, `"R"`, `"my-record"`, 1), ""},
		{"letters beyond ASCII", strings.Replace(plain, `"R"`, `"Bestellgröße","namespace":"店"`, 1), ""},
		{"a symbol with spaces", field(`{"type":"enum","name":"E","symbols":["a b","c-d"]}`), "\x00"},
		{"a default that is no symbol", field(`{"type":"enum","name":"E","symbols":["A"],"default":"B"}`), "\x00"},
		{"scale > precision", field(`{"type":"bytes","logicalType":"decimal","precision":2,"scale":4}`), "\x02\x01"},
		{"no precision", field(`{"type":"bytes","logicalType":"decimal"}`), "\x02\x01"},
		{"a negative scale", field(`{"type":"bytes","logicalType":"decimal","precision":4,"scale":-1}`), "\x02\x01"},
		{"precision 0", field(`{"type":"bytes","logicalType":"decimal","precision":0}`), "\x02\x01"},
		{"precision as a word", field(`{"type":"bytes","logicalType":"decimal","precision":"ten"}`), "\x02\x01"},
		{"more digits than a fixed has", field(`{"type":"fixed","name":"F","size":1,"logicalType":"decimal","precision":3}`), "\x01"},
		{"a decimal of a text", field(`{"type":"string","logicalType":"decimal"}`), "\x00"},
		{"a duration of 3 bytes", field(`{"type":"fixed","name":"F","size":3,"logicalType":"duration"}`), "abc"},
		{"a date of a text", field(`{"type":"string","logicalType":"date"}`), "\x00"},
		{"a logical type that is no text", field(`{"type":"string","logicalType":{"type":"x"}}`), "\x00"},
		{"an unknown logical type", field(`{"type":"long","logicalType":"io.debezium.time.Timestamp"}`), "\x00"},
		{"a default of another type", field(`"int","default":"0"`), "\x00"},
		{"null as the default of a text", field(`"string","default":null`), "\x00"},
		{"a default of the second branch", field(`["string","null"],"default":null`), "\x02"},
		{"an order that is none", field(`"int","order":"backwards"`), "\x00"},
		{"attributes of other types", field(`{"type":"int","items":3,"symbols":"x","doc":7,"aliases":"a"}`), "\x00"},
		{"the type of a type", field(`{"type":{"type":"int"}}`), "\x00"},
		{"a size as a text", field(`{"type":"fixed","name":"F","size":"2"}`), "ab"},
		{"a definition in a field", field(`"enum","symbols":["A"]`), "\x00"},
		{"a type before its definition", field(`["null","Y"]},{"name":"y","type":{"type":"record","name":"Y","fields":[]}`), "\x00"},
		{"a comment", "// by a tool\n" + strings.Replace(plain, `"fields"`, `/* "},{ */ "fields"`, 1) + "//", ""},
		{"no comment in a text", strings.Replace(plain, `"R"`, `"R","doc":"http://x/*\" // */"`, 1), ""},
		{"a byte order mark", "\ufeff" + plain, ""},
		{"space around", "\n\t " + plain + " \r\n", ""},
	} {
		s, err := Parse([]byte(c.schema))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		source, err := s.Open(mappingtest.Paths(t, "/v"))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		values := mappingtest.Left(1)
		if code := source.Fill(values, []byte("\x0e"+c.rest)); code != text.OK || values[0].Number != 7 {
			t.Errorf("%s: %v, %v", c.name, code, values[0])
		}
	}
	bad := parse(t, field(`{"type":"bytes","logicalType":"decimal","precision":2,"scale":4}`))
	_, err := bad.Open(mappingtest.Paths(t, "/x"))
	if err == nil || !strings.Contains(err.Error(), "without the logical type decimal") {
		t.Errorf("a path to an invalid decimal: %v", err)
	}
	older := parse(t, plain)
	if _, err := older.OpenVersion(parse(t, field(`"int","default":"0"`)), mappingtest.Paths(t, "/x")); err == nil ||
		!strings.Contains(err.Error(), "path /x: the default in the reader's schema is not of the field's type") {
		t.Errorf("a path to an invalid default: %v", err)
	}
}

// TestLogicalTypesBesideTheType checks the logical type in the field, where many tools write it.
func TestLogicalTypesBesideTheType(t *testing.T) {
	for text, want := range map[string]mapping.Kind{
		`"long","logicalType":"timestamp-millis"`:                                      mapping.Time,
		`["null","long"],"logicalType":"timestamp-millis"`:                             mapping.Time,
		`{"type":"long"},"logicalType":"timestamp-micros"`:                             mapping.Time,
		`{"type":"long","logicalType":"x"},"logicalType":"timestamp-micros"`:           mapping.Number,
		`"bytes","logicalType":"decimal","precision":4,"scale":2`:                      mapping.Number,
		`{"type":"bytes","logicalType":"decimal"},"precision":4,"logicalType":"other"`: mapping.Number,
		`{"type":"bytes","logicalType":"decimal"},"precision":4`:                       mapping.Absent,
	} {
		s := parse(t, `{"type":"record","name":"R","fields":[{"name":"x","type":`+text+`}]}`)
		if got := s.KindAt(mappingtest.Paths(t, "/x")[0]); got != want {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
}

// TestDefaultsOfUnionsBelongToTheFirstBranchThatTakesThem checks defaults of unions of records.
func TestDefaultsOfUnionsBelongToTheFirstBranchThatTakesThem(t *testing.T) {
	inner := func(name, field, initial string) string {
		return `{"type":"record","name":"` + name + `","fields":[{"name":"` + field + `","type":"string"},{"name":"w","type":"string","default":"` + initial + `"}]}`
	}
	reader := parse(t, `{"type":"record","name":"R","fields":[{"name":"u","default":{"b":"x"},"type":`+
		union(inner("A", "a", "of A"), inner("B", "b", "of B"))+`}]}`)
	source, err := parse(t, `{"type":"record","name":"R","fields":[]}`).OpenVersion(reader, mappingtest.Paths(t, "/u/w", "/u/b", "/u/a"))
	if err != nil {
		t.Fatal(err)
	}
	values := mappingtest.Left(3)
	if code := source.Fill(values, nil); code != text.OK {
		t.Error(code)
	}
	text := func(s string) mapping.Value { return mapping.Value{Kind: mapping.Text, Text: []byte(s)} }
	paths := mappingtest.Paths(t, "/u/w", "/u/b", "/u/a")
	mappingtest.Same(t, nil, paths, values, []mapping.Value{text("of B"), text("x"), {}})
}
