package settings

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"oriel/schemas/event"
	"oriel/schemas/text"
)

const (
	orderAvro = `{"type":"record","name":"Order","fields":[{"name":"total","type":"double"},
		{"name":"customer","type":{"type":"record","name":"C","fields":[{"name":"country","type":"string"}]}}]}`
	olderAvro = `{"type":"record","name":"Order","fields":[{"name":"total","type":"int"}]}`
	orderIDL  = `syntax = "proto3";
message Other {}
message Order { double total = 1; Customer customer = 2; }
message Customer { string country = 1; }`
	ownAvro = `{"type":"record","name":"E","fields":[{"name":"label","type":"boolean"},{"name":"features","type":
		{"type":"record","name":"F","fields":[{"name":"amount","type":"double"},
		{"name":"notes","type":{"type":"array","items":"string"}},
		{"name":"country","type":["null","string"]}]}}]}`
)

// inFolder writes the schemas into a folder and returns its path.
func inFolder(t *testing.T) (folder string) {
	t.Helper()
	folder = t.TempDir()
	for name, text := range map[string]string{
		"order.avsc": orderAvro, "older.avsc": olderAvro, "order.proto": orderIDL, "own.avsc": ownAvro, "bad.avsc": `{"type":"recrd"}`,
		"renamed.proto": strings.NewReplacer("total", "sum", "customer", "buyer", "country", "land").Replace(orderIDL),
		"wider.avsc":    strings.Replace(orderAvro, `"total"`, `"more","type":"int"},{"name":"total"`, 1),
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return folder + "/"
}

// TestImportsAreFrozenToo checks that the frozen digest covers the files that a schema imports, because the type of a
// field may be defined in one of them.
func TestImportsAreFrozenToo(t *testing.T) {
	with := func(imported string) string {
		folder := t.TempDir()
		for name, text := range map[string]string{
			"trip.proto": `syntax = "proto3"; import "cost.proto"; message Trip { Cost cost = 1; bool late = 2; }`,
			"cost.proto": `syntax = "proto3"; message Cost { ` + imported + ` }`,
		} {
			if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		return loaded(t, "ORIEL_FORMAT=protobuf", "ORIEL_SCHEMA_FILE="+filepath.Join(folder, "trip.proto"),
			"ORIEL_SCHEMA_MESSAGE=Trip", `ORIEL_MAP={"label":"late","features":["/cost/cents"]}`).Canonical()
	}
	same, other := with("sint32 cents = 1;"), with("int32 cents = 1;")
	if same != with("sint32 cents = 1;") || same == other {
		t.Errorf("the configuration says the same of two files that are imported:\n%s", same)
	}
}

// TestSchemasAreFrozenByTheirDigest checks that a schema is frozen by the contents of its files, not by their paths.
// Defaults that are written out must not change the configuration.
func TestSchemasAreFrozenByTheirDigest(t *testing.T) {
	own, folder, elsewhere := loaded(t).Canonical(), inFolder(t), inFolder(t)
	if got := loaded(t, "ORIEL_FRAMING=plain", "ORIEL_FORMAT=json").Canonical(); got != own {
		t.Errorf("defaults that are written out change the configuration:\n%s", got)
	}
	const id = "=sha256:"
	for _, c := range []struct {
		lines func(folder string) []string
		want  []string
	}{
		{
			func(string) []string { return []string{"ORIEL_FRAMING=cloudevents"} },
			[]string{"FORMAT=json", "FRAMING=cloudevents"},
		},
		{
			func(folder string) []string {
				return []string{"ORIEL_FORMAT=avro", "ORIEL_SCHEMA_FILE=" + folder + "order.avsc", "ORIEL_MAP=" + orders}
			},
			[]string{"FORMAT=avro", "SCHEMA=sha256:"},
		},
		{
			func(folder string) []string {
				return []string{
					"ORIEL_FORMAT=avro", "ORIEL_FRAMING=confluent", "ORIEL_SCHEMA_FILE=" + folder + "order.avsc",
					"ORIEL_MAP=" + orders, "ORIEL_SCHEMA_IDS=12, 3=" + folder + "older.avsc",
				}
			},
			[]string{"FRAMING=confluent", "SCHEMA=sha256:", "SCHEMA_IDS=3" + id, ",12" + id},
		},
		{
			func(folder string) []string {
				return []string{
					"ORIEL_FORMAT=protobuf", "ORIEL_SCHEMA_FILE=" + folder + "order.proto", "ORIEL_SCHEMA_MESSAGE=Order",
					"ORIEL_MAP=" + orders,
				}
			},
			[]string{"FORMAT=protobuf", "SCHEMA=sha256:", "SCHEMA_MESSAGE=Order"},
		},
	} {
		got := loaded(t, c.lines(folder)...).Canonical()
		for _, want := range c.want {
			if !strings.Contains(got, want) || want[0] != ',' && !strings.Contains(got, "\n"+want) {
				t.Errorf("%v:\n%s\nlacks %s", c.lines(""), got, want)
			}
		}
		if there := loaded(t, c.lines(elsewhere)...).Canonical(); there != got {
			t.Errorf("from another folder:\n%s\nwant\n%s", there, got)
		}
		for _, file := range []string{"order.avsc", "older.avsc"} {
			with := strings.Join(c.lines(folder), "\n")
			other := strings.ReplaceAll(with, file, "wider.avsc")
			if other != with && loaded(t, strings.Split(other, "\n")...).Canonical() == got {
				t.Errorf("another schema in the place of %s leaves the configuration:\n%s", file, got)
			}
		}
		if !strings.Contains(own, "\nFRAMING=\n") || !strings.Contains(own, "\nSCHEMA=\n") {
			t.Errorf("records of JSON:\n%s", own)
		}
	}
}

func TestProblemsOfSchemas(t *testing.T) {
	folder := inFolder(t)
	for _, c := range []struct {
		lines string
		want  string
	}{
		{"FORMAT=xml", `ORIEL_FORMAT: "xml": not one of json, avro, protobuf`},
		{"FRAMING=soap", `ORIEL_FRAMING: "soap": not one of plain, confluent, cloudevents`},
		{"FORMAT=avro", "ORIEL_SCHEMA_FILE: not set; records of ORIEL_FORMAT=avro are read by their schema"},
		{"SCHEMA_FILE=order.avsc", "ORIEL_SCHEMA_FILE: set, but records of JSON need no schema"},
		{"FORMAT=avro SCHEMA_FILE=away.avsc", "ORIEL_SCHEMA_FILE: open "},
		{"FORMAT=avro SCHEMA_FILE=bad.avsc", "ORIEL_SCHEMA_FILE: "},
		{"FORMAT=protobuf SCHEMA_FILE=order.proto", "the file has several messages, and none is named: Other, Order, Customer"},
		{
			"FORMAT=protobuf SCHEMA_FILE=order.proto SCHEMA_MESSAGE=Ordr",
			"the file has no message Ordr; it has Other, Order, Customer",
		},
		{"FORMAT=avro SCHEMA_FILE=order.avsc SCHEMA_MESSAGE=A", "ORIEL_SCHEMA_MESSAGE: set, but only records of ORIEL_FORMAT=protobuf"},
		{"FORMAT=avro SCHEMA_FILE=order.avsc UNKNOWN=null", "ORIEL_UNKNOWN: set, but a schema says which members records have"},
		{"FORMAT=avro SCHEMA_FILE=order.avsc SCHEMA_IDS=1", "ORIEL_SCHEMA_IDS: set, but only records of ORIEL_FRAMING=confluent have ids"},
		{"FORMAT=avro SCHEMA_FILE=order.avsc FRAMING=confluent", "ORIEL_SCHEMA_IDS: not set"},
		{"FORMAT=avro SCHEMA_FILE=order.avsc FRAMING=confluent SCHEMA_IDS=x", `ORIEL_SCHEMA_IDS: "x": not an id from 0 to 4294967295`},
		{"FORMAT=avro SCHEMA_FILE=order.avsc FRAMING=confluent SCHEMA_IDS=1=away.avsc", "ORIEL_SCHEMA_IDS: id 1: open "},
		{
			"FORMAT=avro SCHEMA_FILE=order.avsc FRAMING=confluent SCHEMA_IDS=1,1 MAP=" + orders,
			"ORIEL_SCHEMA_IDS: framing: id 1 is given twice",
		},
		{"FORMAT=avro SCHEMA_FILE=order.avsc", "ORIEL_SCHEMA_FILE: without ORIEL_MAP the schema has the members of events: features: nothing gives"},
		{
			`FORMAT=avro SCHEMA_FILE=order.avsc MAP={"label":"/total>1","features":["/customer/city"]}`,
			"ORIEL_MAP: features[0]: path /customer/city: record C has no field city; it has country",
		},
		{
			`FORMAT=protobuf SCHEMA_FILE=order.proto SCHEMA_MESSAGE=Order MAP={"label":"/total>1","features":["/customer"]}`,
			"ORIEL_MAP: features[0]: path /customer: message Customer is no value of an event: name a field of it, country",
		},
	} {
		environ := minimal()
		for _, line := range strings.Split(c.lines, " ") {
			line = strings.Replace(line, "SCHEMA_FILE=", "SCHEMA_FILE="+folder, 1)
			environ = append(environ, "ORIEL_"+strings.Replace(line, "1=away", "1="+folder+"away", 1))
		}
		if _, err := Load(environ, all...); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.lines, err, c.want)
		}
	}
}

// TestDecodersOfFormats checks that records of every format and framing decode to the same event as lines of JSON.
func TestDecodersOfFormats(t *testing.T) {
	folder := inFolder(t)
	const total = "\x00\x00\x00\x00\x00\x00\x34\x40" // the number 20 as a 64-bit float
	avro, proto := total+"\x04CH", "\x09"+total+"\x12\x04\x0a\x02CH"
	byAvro := []string{"ORIEL_FORMAT=avro", "ORIEL_SCHEMA_FILE=" + folder + "order.avsc", "ORIEL_MAP=" + orders}
	byProto := []string{
		"ORIEL_FORMAT=protobuf", "ORIEL_SCHEMA_FILE=" + folder + "order.proto", "ORIEL_SCHEMA_MESSAGE=Order",
		"ORIEL_MAP=" + orders,
	}
	const confluentFraming, cloud = "ORIEL_FRAMING=confluent", "ORIEL_FRAMING=cloudevents"
	ids, renamed := "ORIEL_SCHEMA_IDS=258,9="+folder+"older.avsc", "ORIEL_SCHEMA_IDS=258,9="+folder+"renamed.proto"
	decode := func(s Settings, record string) (event.Event, text.Code) {
		t.Helper()
		c := s.EventConfig()
		d, err := event.OpenDecoder(c)
		if err != nil {
			t.Fatal(err)
		}
		var e event.Event
		code := d.Decode(&e, []byte(record))
		return e, code
	}
	const line = `{"total":20,"customer":{"country":"CH"}}`
	want, _ := decode(loaded(t, "ORIEL_MAP="+orders), line)
	for _, c := range []struct {
		lines  []string
		record string
	}{
		{byAvro, avro},
		{byProto, proto},
		{append(byAvro, confluentFraming, ids), "\x00\x00\x00\x01\x02" + avro},
		{append(byProto, confluentFraming, "ORIEL_SCHEMA_IDS=258"), "\x00\x00\x00\x01\x02\x02\x02" + proto},
		{append(byProto, confluentFraming, renamed), "\x00\x00\x00\x00\x09\x02\x02" + proto},
		{append(byAvro, cloud), `{"specversion":"1.0","data_base64":"AAAAAAAANEAEQ0g="}`},
		{append(byProto, cloud), `{"specversion":"1.0","data_base64":"CQAAAAAAADRAEgQKAkNI"}`},
		{[]string{"ORIEL_MAP=" + orders, cloud}, `{"specversion":"1.0","data":` + line + `}`},
		{[]string{"ORIEL_MAP=" + orders, confluentFraming}, "\x00\x00\x00\x00\x07" + line},
	} {
		s := loaded(t, c.lines...)
		got, code := decode(s, c.record)
		if code != text.OK || got.Label != 1 || len(got.Vector.Values) != len(want.Vector.Values) {
			t.Errorf("%v: %v, %v, want %v", c.lines, code, got, want)
			continue
		}
		for k := range want.Vector.Values {
			if got.Vector.Values[k] != want.Vector.Values[k] || got.Vector.Indices[k] != want.Vector.Indices[k] {
				t.Errorf("%v: %v, want %v", c.lines, got, want)
			}
		}
		if _, code := decode(s.Lines(), line); code != text.OK {
			t.Errorf("%v: a line: %v", c.lines, code)
		}
	}
	byID := loaded(t, append(byAvro, confluentFraming, ids)...)
	if _, code := decode(byID, "\x00\x00\x00\x00\x09\x28"); code != text.OK {
		t.Errorf("a record of an older schema: %v", code)
	}
	if _, code := decode(byID, "\x00\x00\x00\x00\x0a\x28"); code != text.UnknownSchema {
		t.Errorf("a record of an unknown schema: %v", code)
	}
	own := loaded(t, "ORIEL_FORMAT=avro", "ORIEL_SCHEMA_FILE="+folder+"own.avsc")
	if _, code := decode(own, "\x01"+total+"\x00\x00"); code != text.OK {
		t.Errorf("a record with the members of the operator's events: %v", code)
	}
}
