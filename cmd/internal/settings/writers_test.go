package settings

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"oriel/schemas/event"
	"oriel/schemas/text"
	"oriel/state"
)

// fromARegistry returns settings of records that name schemas of a registry.
func fromARegistry(t *testing.T, format string, more ...string) Settings {
	t.Helper()
	s, err := Load(append(minimal(), append([]string{
		"ORIEL_FORMAT=" + format, "ORIEL_FRAMING=confluent", "ORIEL_SCHEMA_REGISTRY=http://127.0.0.1:1",
		`ORIEL_MAP={"label":"late","features":["/total/cents"]}`,
	}, more...)...), Events, Operator)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func record(id uint32, rest string) []byte {
	b, err := hex.DecodeString(rest)
	if err != nil {
		panic(err)
	}
	return append(binary.BigEndian.AppendUint32([]byte{0}, id), b...)
}

// TestFrozenSchemasDecode covers records with frozen schemas of both languages, including a schema that references
// another. A schema must be known from the offset at which it was frozen, and not before.
func TestFrozenSchemasDecode(t *testing.T) {
	money := `syntax = "proto3"; package shop; message Money { int64 cents = 1; }`
	order := `syntax = "proto3"; package shop; import "money.proto"; message Other {} message Order { bool late = 1; Money total = 2; }`
	avroMoney := `{"type":"record","name":"Money","fields":[{"name":"cents","type":"long"}]}`
	avroOrder := `{"type":"record","name":"Order","fields":[{"name":"late","type":"boolean"},{"name":"total","type":"Money"}]}`
	since := []state.SchemaSince{{Partition: 0, Offset: 5}}
	for format, c := range map[string]struct {
		frozen state.Schemas
		first  []byte
		more   []string
	}{
		"protobuf": {
			state.Schemas{
				{ID: 1, Text: order, References: []state.SchemaReference{{Name: "money.proto", Text: money}}},
				{ID: 2, Text: order, References: []state.SchemaReference{{Name: "money.proto", Text: money}}, Since: since},
			},
			record(1, "0202"+"0801"+"12020807"),
			[]string{"ORIEL_SCHEMA_MESSAGE=shop.Order"},
		},
		"avro": {
			state.Schemas{
				{ID: 1, Text: avroOrder, References: []state.SchemaReference{{Name: "Money", Text: avroMoney}}},
				{ID: 2, Text: avroOrder, References: []state.SchemaReference{{Name: "Money", Text: avroMoney}}, Since: since},
			},
			record(1, "010e"), nil,
		},
	} {
		s := fromARegistry(t, format, c.more...)
		model := s.Model()
		decode := func(frozen state.Schemas, offset int64, record []byte) (e event.Event, code text.Code) {
			t.Helper()
			d, err := model.Writers(frozen)(model.Events)
			if err != nil {
				t.Fatalf("%s: %v", format, err)
			}
			if placed, is := d.(event.PlacedDecoder); is {
				placed.At(0, offset)
			}
			code = d.Decode(&e, record)
			return e, code
		}
		later := append([]byte(nil), c.first...)
		binary.BigEndian.PutUint32(later[1:], 2)
		first, code := decode(c.frozen, 0, c.first)
		if code != text.OK || first.Label != 1 || len(first.Vector.Values) == 0 {
			t.Errorf("%s: %v, %+v", format, code, first)
		}
		if _, code := decode(c.frozen, 4, later); code != text.UnknownSchema {
			t.Errorf("%s: before it is known: %v", format, code)
		}
		if _, code := decode(c.frozen, 5, later); code != text.OK {
			t.Errorf("%s: once it is known: %v", format, code)
		}
		if _, code := decode(nil, 5, c.first); code != text.UnknownSchema {
			t.Errorf("%s: without schemas: %v", format, code)
		}
		broken := append(c.frozen[:1:1], state.Schemas{{ID: 9, Text: "no schema"}}...)
		_, err := model.Writers(broken)(model.Events)
		if said := fmt.Sprint(err); !strings.Contains(said, "schema 9") || strings.Contains(said, ".proto") {
			t.Errorf("%s: a schema that is none: %v", format, err)
		}
		other := append(state.Schemas(nil), c.frozen[0])
		other[0].Text = strings.ReplaceAll(other[0].Text, "total", "sum")
		_, err = model.Writers(other)(model.Events)
		if err == nil || !strings.Contains(err.Error(), "ORIEL_MAP: features[0]: path /total") {
			t.Errorf("%s: a schema without what the mapping reads: %v", format, err)
		}
		canonical := s.Canonical()
		if !strings.Contains(canonical, "SCHEMA_SUBJECT=i-value\n") || strings.Contains(canonical, "127.0.0.1") {
			t.Errorf("%s: canonical configuration %q", format, canonical)
		}
		for _, line := range c.more {
			if !strings.Contains(canonical, strings.TrimPrefix(line, "ORIEL_")+"\n") {
				t.Errorf("%s: canonical configuration %q lacks %s", format, canonical, line)
			}
		}
	}
}

// TestVersionsWithoutEventsAreRefused checks that a version is refused if every record of it would be a null event.
func TestVersionsWithoutEventsAreRefused(t *testing.T) {
	avro := func(fields string) string {
		return `{"type":"record","name":"Order","fields":[` + fields + `{"name":"kind","type":"string"}]}`
	}
	proto := func(fields string) string {
		return `syntax = "proto3"; message Order { string kind = 9; ` + fields + ` }`
	}
	const late, cents = `{"name":"late","type":"boolean"},`, `{"name":"cents","type":"long"},`
	for _, c := range []struct{ name, format, mapped, first, next, want string }{
		{"a feature is missing", "avro", `"label":"late","features":["cents"]`, avro(late + cents), avro(late), ""},
		{"the label is missing", "avro", `"label":"late","features":["cents"]`, avro(late + cents), avro(cents), "label: path /late: no record of this schema has a value there, and events of coco must have label"},
		{"the label has a default", "avro", `"label":"late","features":["cents"]`, avro(strings.Replace(late, "}", `,"default":true}`, 1) + cents), avro(cents), ""},
		{"the default of the label is null", "avro", `"label":"late","features":["cents"]`, avro(`{"name":"late","type":["null","boolean"],"default":null},` + cents), avro(cents), "must have label"},
		{"the label has become a time", "avro", `"label":"late","features":["cents"]`, avro(late + cents), avro(`{"name":"late","type":{"type":"int","logicalType":"date"}},`), "label: path /late: no record of this schema has a number there"},
		{"the label is in one branch", "avro", `"label":"late","features":["cents"]`, avro(late + cents), "[" + avro(late) + `,{"type":"record","name":"Other","fields":[]}]`, ""},
		{"the label is in no branch", "avro", `"label":"late","features":["cents"]`, avro(late + cents), "[" + avro(cents) + `,{"type":"record","name":"Other","fields":[` + late + `{"name":"x","type":"int"}]}]`, "must have label"},
		{"only other types", "avro", `"label":"late","features":["cents"]`, avro(late + cents), `{"type":"record","name":"Other","fields":[` + late + cents + `{"name":"x","type":"int"}]}`, "a record Other has no counterpart in the reader's schema"},
		{"a compared label is missing", "avro", `"label":"cents>3","features":["late"]`, avro(late + cents), avro(late), "label: path /cents: no record"},
		{"what is asked is whether it is missing", "avro", `"label":"cents=","features":["late"]`, avro(late + cents), avro(late), ""},
		{"the filter keeps none", "avro", `"where":"cents>3","label":"late","features":["cents"]`, avro(late + cents), avro(late), "where: path /cents: no record of this schema has a value there, so all would be left out"},
		{"the filter keeps all", "avro", `"where":"cents!=3","label":"late","features":["cents"]`, avro(late + cents), avro(late), ""},
		{"a feature is missing", "protobuf", `"label":"late","features":["cents"]`, proto("bool late = 1; int64 cents = 2;"), proto("bool late = 1;"), ""},
		{"the label is missing", "protobuf", `"label":"late","features":["cents"]`, proto("bool late = 1; int64 cents = 2;"), proto("int64 cents = 2;"), "label: path /late: no record of this schema has a value there, and events of coco must have label"},
		{"the label has become a time", "protobuf", `"label":"late","features":["cents"]`, proto("bool late = 1; int64 cents = 2;"), `syntax = "proto3"; import "google/protobuf/timestamp.proto"; message Order { google.protobuf.Timestamp late = 1; }`, "label: path /late: no record of this schema has a number there"},
		{"the filter keeps none", "protobuf", `"where":"cents>3","label":"late","features":["cents"]`, proto("bool late = 1; int64 cents = 2;"), proto("bool late = 1;"), "where: path /cents"},
	} {
		model := fromARegistry(t, c.format, "ORIEL_MAP={"+c.mapped+"}").Model()
		added := state.Schema{ID: 2, Text: c.next, Since: []state.SchemaSince{}}
		_, err := model.Writers(state.Schemas{{ID: 1, Text: c.first}, added})(model.Events)
		said := fmt.Sprint(err)
		if c.want == "" && err != nil ||
			c.want != "" && (!strings.Contains(said, "schema id 2: ") || !strings.Contains(said, c.want)) {
			t.Errorf("%s, %s: %v, want %q", c.format, c.name, err, c.want)
		}
	}
}

// TestAddedSchemasDoNotChangeWhatRecordsSay checks that an added schema does not change the reader's schema. Therefore
// a record of an older schema that lacks a field must keep the same default.
func TestAddedSchemasDoNotChangeWhatRecordsSay(t *testing.T) {
	of := func(id uint32, fields string, since []state.SchemaSince) state.Schema {
		return state.Schema{
			ID: id, Text: `{"type":"record","name":"Order","fields":[{"name":"late","type":"boolean"}` + fields + `]}`, Since: since,
		}
	}
	first := state.Schemas{of(1, "", nil), of(2, `,{"name":"cents","type":"long","default":5}`, nil)}
	more := append(first[:2:2], of(3, `,{"name":"cents","type":"long","default":9}`, []state.SchemaSince{{Partition: 0, Offset: 7}}))
	again := append(first[:2:2], of(3, `,{"name":"cents","type":"long","default":9}`, []state.SchemaSince{}))
	model := fromARegistry(t, "avro", `ORIEL_MAP={"label":"late","features":["cents"]}`).Model()
	said := func(frozen state.Schemas, record []byte) string {
		t.Helper()
		d, err := model.Writers(frozen)(model.Events)
		if err != nil {
			t.Fatal(err)
		}
		d.(event.PlacedDecoder).At(0, 8)
		var e event.Event
		code := d.Decode(&e, record)
		return fmt.Sprint(code, e)
	}
	lacking := record(1, "01")
	want := said(first, lacking)
	if five := said(first, record(2, "010a")); five != want {
		t.Errorf("a default says %s, and the same written out %s", want, five)
	}
	for _, frozen := range []state.Schemas{more, again} {
		if got := said(frozen, lacking); got != want {
			t.Errorf("it said %s, and says %s once a schema was added", want, got)
		}
		if five := said(frozen, record(3, "010a")); five != want {
			t.Errorf("of the schema that was added: %s, want %s", five, want)
		}
	}
}

func TestRegistriesThatSettingsRefuse(t *testing.T) {
	avro := []string{"ORIEL_FORMAT=avro", "ORIEL_FRAMING=confluent"}
	for want, given := range map[string][]string{
		"ORIEL_SCHEMA_REGISTRY: not the http":  {avro[0], avro[1], "ORIEL_SCHEMA_REGISTRY=registry:8081"},
		"ORIEL_SCHEMA_REGISTRY_USER names one": {avro[0], avro[1], "ORIEL_SCHEMA_REGISTRY=http://a:b@registry"},
		"ORIEL_SCHEMA_REGISTRY: set, but only": {"ORIEL_SCHEMA_REGISTRY=http://registry"},
		"ORIEL_SCHEMA_IDS: set, but":           {avro[0], avro[1], "ORIEL_SCHEMA_REGISTRY=http://registry", "ORIEL_SCHEMA_IDS=1"},
		"ORIEL_SCHEMA_SUBJECT: set without":    {"ORIEL_SCHEMA_SUBJECT=orders"},
		"ORIEL_SCHEMA_SUBJECT: set, but": {
			"ORIEL_SCHEMA_SUBJECT=orders", "ORIEL_SCHEMA_REGISTRY=http://registry", "ORIEL_DECISIONS_FORMAT=avro",
		},
		"without ORIEL_DECISIONS_SCHEMA_ID": {
			"ORIEL_SCHEMA_REGISTRY=http://registry", "ORIEL_DECISIONS_FORMAT=avro", "ORIEL_DECISIONS_SCHEMA_ID=7",
		},
		"ORIEL_SCHEMA_REGISTRY_CA_FILE: set without": {"ORIEL_SCHEMA_REGISTRY_CA_FILE=a.pem"},
		"ORIEL_SCHEMA_REGISTRY_PASSWORD_FILE: set without the other: ORIEL_SCHEMA_REGISTRY_USER and this setting need each other": {
			avro[0], avro[1], "ORIEL_SCHEMA_REGISTRY=http://registry", "ORIEL_SCHEMA_REGISTRY_USER=oriel",
		},
	} {
		if _, err := Load(append(minimal(), given...), Events, Operator); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q: %v", want, err)
		}
	}
}
