package protobuf

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"oriel/mechanisms/mechtest/tiertest"
	"oriel/schemas/mapping"
	"oriel/schemas/mapping/mappingtest"
	"oriel/schemas/text"
)

const orders = `syntax = "proto3";
package shop;
import "money.proto";
import "google/protobuf/timestamp.proto";
message Order {
  message Line { string article = 1; int32 count = 2; }
  string id = 1;
  Money total = 2;
  repeated Line lines = 3;
  map<string, string> tags = 4;
  map<int32, string> by_number = 5;
  google.protobuf.Timestamp placed_at = 6;
  oneof payment { string card = 7; double cash = 8; }
  bytes proof = 9;
  optional int32 gifts = 10;
}
`

const money = `syntax = "proto3";
package shop;
message Money { int64 units = 1; string currency = 2; }
`

func readFiles(files map[string]string) func(string) ([]byte, error) {
	return func(name string) ([]byte, error) {
		text, ok := files[name]
		if !ok {
			return nil, fs.ErrNotExist
		}
		return []byte(text), nil
	}
}

func shop(t *testing.T) *Schema {
	t.Helper()
	s, err := Read("in/order.proto", "", readFiles(map[string]string{"in/order.proto": orders, "in/money.proto": money}))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestImportsAreReadBesideTheFile(t *testing.T) {
	s := shop(t)
	var names []string
	for _, f := range s.Files() {
		names = append(names, f.Name)
	}
	if want := []string{"money.proto", "order.proto"}; !slices.Equal(names, want) || s.Name() != "shop.Order" {
		t.Errorf("%s of %q, want shop.Order of %q", s.Name(), names, want)
	}
	line, err := Read("in/order.proto", "shop.Order.Line",
		readFiles(map[string]string{"in/order.proto": orders, "in/money.proto": money}))
	if err != nil || !slices.Equal(line.Index(), []int{0, 0}) {
		t.Errorf("a nested message has the index %v, %v", line.Index(), err)
	}
}

func TestSchemasThatAreRefused(t *testing.T) {
	for _, c := range []struct{ name, text, message, want string }{
		{"a.proto", `syntax = "proto3"; message A {} message B {}`, "", "several messages, and none is named: A, B"},
		{"a.proto", `syntax = "proto3"; message A {}`, "B", "the file has no message B; it has A"},
		{"a.proto", `syntax = "proto3"; enum E { Z = 0; }`, "", "the file has no message"},
		{"a.proto", `syntax = "proto3"; message A { int32 x = 0; }`, "", "a.proto:1:42: tag number 0"},
		{"a.proto", `syntax = "proto3"; import "away.proto"; message A {}`, "", "away.proto"},
		{"a.proto", strings.Repeat("message A {", 200), "", "nest deeper than 100"},
		{"a.bin", "no descriptors", "", "neither a .proto file, by its name, nor a FileDescriptorSet"},
		{"away.proto", "", "", "not exist"},
		{"long.proto", "//" + strings.Repeat(" ", maxBytes), "", "bytes"},
	} {
		files := map[string]string{"a.proto": c.text, "a.bin": c.text, "long.proto": c.text}
		_, err := Read(c.name, c.message, readFiles(files))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %.40q: %v, want %q", c.name, c.text, err, c.want)
		}
	}
}

func TestPathsThatAreRefused(t *testing.T) {
	s := shop(t)
	for path, want := range map[string]string{
		"/totl":               "path /totl: message shop.Order has no field totl; it has id, total, lines, tags, by_number",
		"/payment/card":       "path /payment: payment is a oneof, whose members are named without it",
		"/total":              "path /total: message shop.Money is no value of an event: name a field of it, units, currency",
		"/total/unit":         "message shop.Money has no field unit",
		"/id/x":               "path /id/x: field id is a string: nothing lies below it",
		"/lines":              "name the place of an element behind it",
		"/lines/first":        "first is no place in it",
		"/lines/0":            "message shop.Order.Line is no value",
		"/tags":               "name a key behind it",
		"/by_number/1":        "a map whose keys are no texts",
		"/proof":              "field proof is bytes, which is no value of an event",
		"/placed_at/nonsense": "has no field nonsense",
	} {
		if _, err := s.Open(mappingtest.Paths(t, path)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
	}
	if _, err := s.Open(mappingtest.Paths(t, "/placed_at", "/placed_at/seconds")); err == nil {
		t.Error("a time as a whole and in part is not refused")
	}
	if _, err := s.Open(mappingtest.Paths(t, "/placed_at/seconds", "/placedAt/nanos")); err == nil {
		t.Error("a field by both of its names is not refused")
	}
	if _, err := s.OpenAs(shop(t), mappingtest.Paths(t, "/totl", "/total/units")); err != nil {
		t.Errorf("another version of a schema may lack a field: %v", err)
	}
}

func TestHostileRecordsAreRefused(t *testing.T) {
	paths := mappingtest.Paths(t, "/id", "/total/units", "/lines/0/count", "/tags/a", "/placed_at", "/cash")
	source, err := shop(t).Open(paths)
	if err != nil {
		t.Fatal(err)
	}
	groups := strings.Repeat("\x7b", 100_000) // nested starts of group 15
	for _, c := range []struct {
		name, record string
		want         text.Code
	}{
		{"a length beyond the end", "\x0a\x05ab", text.Malformed},
		{"a length of 2^64 − 1", "\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", text.Malformed},
		{"a length of 2^63", "\x12\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", text.Malformed},
		{"a varint of 11 bytes", "\x50\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", text.Malformed},
		{"a varint of 65 bits", "\x50\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", text.Malformed},
		{"a varint that does not end", "\x50\xff", text.Malformed},
		{"field 0", "\x02\x00", text.Malformed},
		{"a field number of 30 bits", "\x82\x80\x80\x80\x10\x00", text.Malformed},
		{"wire type 6", "\x56", text.Malformed},
		{"wire type 7", "\x57", text.Malformed},
		{"the end of a group that has not begun", "\x7c", text.Malformed},
		{"a group that does not end", "\x7b\x08\x01", text.Malformed},
		{"the end of another group", "\x7b\x84\x01", text.Malformed},
		{"groups in groups", groups, text.TooDeep},
		{"a group in a group", "\x7b\x83\x01\x84\x01\x7c", text.OK},
		{"a field number of 31 bits in a group", "\x7b\xb8\xb8\xb8\xb8\x30\x30\x7c", text.Malformed},
		{"a group that ends before one in it", "\x7b\x83\x01\x7c\x84\x01", text.Malformed},
		{"a fixed64 that is cut", "\x41\x00\x00", text.Malformed},
		{"invalid UTF-8", "\x0a\x01\xff", text.InvalidUTF8},
		{"a key that is no UTF-8", "\x22\x03\x0a\x01\xff", text.InvalidUTF8},
		{"a negative part of a second", "\x32\x0b\x10\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", text.Malformed},
		{"an entry that is cut", "\x22\x03\x0a\x05a", text.Malformed},
		{"NaN", "\x41\x00\x00\x00\x00\x00\x00\xf8\x7f", text.NumberOverflow},
		{"−∞", "\x41\x00\x00\x00\x00\x00\x00\xf0\xff", text.NumberOverflow},
		{"nothing", "", text.OK},
	} {
		mappingtest.Code(t, source, paths, c.name, c.record, c.want)
	}
}

func TestGroupsEndByTheirNumber(t *testing.T) {
	s := readText(t, `syntax = "proto2"; message A { optional group G = 1 { optional int32 x = 1; } optional int32 y = 2; }`, "A")
	paths := mappingtest.Paths(t, "/G/x", "/y")
	source, err := s.Open(paths)
	if err != nil {
		t.Fatal(err)
	}
	for record, want := range map[string]text.Code{
		"\x0b\x08\x05\x0c\x10\x07": text.OK, "\x0b\x08\x05\x14\x10\x07": text.Malformed,
		"\x0b\x08\x05": text.Malformed,
	} {
		mappingtest.Code(t, source, paths, "a group", record, want)
	}
}

func TestSymbolsOfAnEnum(t *testing.T) {
	s := readText(t, `syntax = "proto3";
enum E { option allow_alias = true; NONE = 0; FIRST = 5; SECOND = 5; FAR = 2000000000; LESS = -1; }
message A { E e = 1; }`, "A")
	source, err := s.Open(mappingtest.Paths(t, "/e"))
	if err != nil {
		t.Fatal(err)
	}
	for record, want := range map[string]string{
		"": "NONE", "\x08\x05": "FIRST", "\x08\x80\xa8\xd6\xb9\x07": "FAR",
		"\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01": "LESS",
	} {
		values := make([]mapping.Value, 1)
		if code := source.Fill(values, []byte(record)); code != text.OK || string(values[0].Text) != want {
			t.Errorf("%x: %v, %q, want %s", record, code, values[0].Text, want)
		}
	}
}

// FuzzSchema checks that any schema file, any paths and any record are read or refused within bounds of memory.
func FuzzSchema(f *testing.F) {
	record := []byte("\x0a\x01a\x12\x02\x08\x01")
	f.Add(orders, record)
	f.Add(money, record)
	f.Add("edition = \"2023\"; message A { repeated A a = 1 [features.message_encoding = DELIMITED]; }", record)
	f.Fuzz(func(t *testing.T, text string, record []byte) {
		for _, name := range []string{"a.proto", "a.bin"} {
			var sources []mapping.Source
			var values []mapping.Value
			tiertest.Allocates(t, mappingtest.MaxSchema, func() {
				sources = nil
				s, err := Read(name, "", readFiles(map[string]string{name: text, "money.proto": money}))
				if err != nil {
					return
				}
				for _, p := range mappingtest.Reach(24, s.Names) { // paths are tried singly, because most have no value
					s.At(p)
					if source, err := s.OpenAs(&Schema{message: s.message}, []mapping.Path{p}); err == nil {
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
		}
	})
}

// TestImportsThatRegistriesKnow imports each file that registries have built in, and uses the options of
// confluent/meta.proto. A file of the schema's own comes before a built-in one.
func TestImportsThatRegistriesKnow(t *testing.T) {
	count := 0
	err := fs.WalkDir(known, "known", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		count++
		imported := strings.TrimPrefix(name, "known/")
		readText(t, `syntax = "proto3"; import "`+imported+`"; message A { string v = 1; }`, "A")
		return nil
	})
	if err != nil || count != 19 {
		t.Errorf("%d files, %v", count, err)
	}
	s := readText(t, `syntax = "proto3"; package shop;
import "confluent/meta.proto"; import "confluent/type/decimal.proto"; import "google/type/money.proto";
import "google/type/dayofweek.proto"; import "google/type/latlng.proto"; import "google/type/date.proto";
option (confluent.file_meta) = { doc: "orders" };
message Order {
  option (confluent.message_meta) = { params: [ { key: "io.confluent.connect.schema", value: "true" } ] };
  google.type.Money price = 1 [(confluent.field_meta).doc = "what it costs"];
  confluent.type.Decimal exact = 2 [(confluent.field_meta) = { params: [ { key: "scale", value: "2" } ] }];
  google.type.DayOfWeek day = 3;
  google.type.LatLng place = 4;
  google.type.Date on = 5;
}`, "shop.Order")
	source, err := s.Open(mappingtest.Paths(t,
		"/price/units", "/price/currency_code", "/day", "/place/latitude", "/exact/scale", "/on/month"))
	if err != nil {
		t.Fatal(err)
	}
	values := mappingtest.Left(6)
	code := source.Fill(values, []byte("\x0a\x07\x0a\x03CHF\x10\x05\x18\x07\x2a\x02\x10\x03"))
	texts := string(values[1].Text) + " " + string(values[2].Text)
	if code != text.OK || values[0].Number != 5 || texts != "CHF SUNDAY" || values[5].Number != 3 {
		t.Errorf("%v, %+v", code, values)
	}
	own, err := Read("a.proto", "", readFiles(map[string]string{
		"a.proto": `syntax = "proto3"; import "google/type/money.proto";
			message A { google.type.Money m = 1; }`,
		"google/type/money.proto": `syntax = "proto3"; package google.type; message Money { int64 cents = 1; }`,
	}))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := own.Open(mappingtest.Paths(t, "/m/cents")); err != nil || len(own.Files()) != 2 {
		t.Errorf("%d files, %v", len(own.Files()), err)
	}
	_, err = Read(Registered(5), "", readFiles(map[string]string{
		Registered(5): `syntax = "proto3"; import "other.proto"; message A {}`,
	}))
	if said := fmt.Sprint(err); !strings.HasPrefix(said, "protobuf: schema 5") || strings.Contains(said, "5.proto") {
		t.Error(said)
	}
}

// TestAnIndexBeyondTheFileNamesItsTypes checks that a message type that the file lacks is said with its place and with
// the types that the file has there.
func TestAnIndexBeyondTheFileNamesItsTypes(t *testing.T) {
	read := readFiles(map[string]string{"in/order.proto": orders, "in/money.proto": money})
	f := func(want string, index ...int) {
		t.Helper()
		name, err := NameAt("in/order.proto", index, read)
		if err != nil {
			name = err.Error()
		}
		if !strings.HasPrefix(name, want) {
			t.Errorf("%v: %s, want %s", index, name, want)
		}
	}
	f("shop.Order", 0)
	f("shop.Order.Line", 0, 0)
	f("protobuf: in/order.proto: records name message type number 4 (index [3]), and the file has 1 at that place: shop.Order; ", 3)
	f("protobuf: in/order.proto: records name message type number 6 (index [0 5]), and the file has 3 at that place: ", 0, 5)
	f("protobuf: in/order.proto: no place of a message type")
}
