package traps

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"oriel/cmd/internal/settings"
)

// TestTrapsOfMappings checks warnings about mappings. The mapping alone must be enough to find numbers without a range,
// and identifiers. A Watch must find problems that only records show, in every record format.
func TestTrapsOfMappings(t *testing.T) {
	f := func(ranges, features string, want ...string) {
		t.Helper()
		document := `{"label":"late","features":[` + features + `]}`
		given := usual("ORIEL_FEATURES_RANGE="+ranges, "ORIEL_MAP="+document)
		s, err := settings.Load(given, settings.Events, settings.Operator)
		if err != nil {
			t.Fatal(err)
		}
		got := Unseen(s)
		if len(got) != len(want) || slices.ContainsFunc(want, func(text string) bool {
			return !strings.Contains(strings.Join(got, "\n"), text)
		}) {
			t.Errorf("%s: %q, want %q", features, got, want)
		}
	}
	f("amount:0:5000", `"country","/order/amount:number","valid","/paid"`)
	f("", `"/order/total:number",{"name":"hour","from":"time","as":"hour"},{"name":"kg","from":"g","scale":0.001}`,
		`range in ORIEL_FEATURES_RANGE: "total", "hour", "kg". A number`)
	f("", `"/user/id","who=/customerId","orderUUID","from-IP","grid","paid"`, `identifiers as features: "id", "who", "orderUUID", "from-IP". Most`)
	f("totl:0:1", `"paid"`, `ORIEL_FEATURES_RANGE: "totl": no feature of ORIEL_MAP has that name`)
	f("", `"session_key:text",{"name":"idle","compare":"/id=7"}`, `identifiers as features: "session_key"`)

	s, err := settings.Load(usual("ORIEL_FEATURES_RANGE=", `ORIEL_MAP={"label":"late","features":["/a/b"]}`), settings.Events, settings.Operator)
	if err != nil {
		t.Fatal(err)
	}
	events := s.EventConfig()
	w := WatchOf(events)
	for range 3 {
		w.See([]byte(`{"late":1,"a":{"b":1400},"features":{"c":1400}}`))
		w.See([]byte(`{"late":"?","a":{"b":"2024-05-01"}}`))
	}
	if got := w.Warnings(); len(got) != 1 || !strings.Contains(got[0], `no range in ORIEL_FEATURES_RANGE: "b". A`) {
		t.Errorf("%q", got)
	}
}

// TestTrapsOfSchemas checks that warnings use the kinds in a schema: they determine which values an item can never
// read, and which features are numbers.
func TestTrapsOfSchemas(t *testing.T) {
	folder := t.TempDir()
	for name, text := range map[string]string{
		"o.avsc": `{"type":"record","name":"O","fields":[{"name":"paid","type":["null","boolean"]},{"name":"at","type":
			{"type":"long","logicalType":"timestamp-millis"}},{"name":"lines","type":{"type":"array","items":{"type":"record",
			"name":"L","fields":[{"name":"price","type":"double"}]}}},{"name":"sums","type":{"type":"map","values":"int"}},
			{"name":"either","type":["int","string"]},{"name":"name","type":"string"}]}`,
		"o.proto": `syntax = "proto3"; import "google/protobuf/timestamp.proto"; import "google/protobuf/wrappers.proto";
			message L { double price = 1; } message O { google.protobuf.BoolValue paid = 1; google.protobuf.Timestamp at = 2;
			repeated L lines = 3; map<string, int32> sums = 4; bytes either = 5; string name = 6; }`,
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ items, want string }{
		{`"label":"paid","features":["name:number",{"name":"h","from":"at","as":"hour"}]`, ""},
		{`"label":"paid","features":["name","at"]`, `features[1]: path /at is a time by the schema`},
		{`"label":"at","features":["name"]`, `label: path /at is a time by the schema`},
		{`"label":"at>7","features":["name"]`, `null event; name another path`},
		{`"label":"at!=","features":["name"]`, ""},
		{`"label":"paid>0","features":["name"]`, `label: path /paid is a boolean by the schema`},
		{`"label":"paid=true","features":["name"]`, ""},
		{`"label":"paid","features":["name",{"name":"d","from":"paid","as":"day"}]`, `features[1]: path /paid is a boolean`},
		{`"label":"paid","features":[{"name":"d","from":"/lines/0/price","as":"day"}]`, `"epoch" names its unit`},
		{`"label":"paid","features":[{"name":"d","from":"/lines/0/price","as":"bool"}]`, `null event; name another path`},
		{`"label":"paid","features":["name"],"members":["weight=at"]`, `members[0]: path /at is a time`},
		{`"label":"paid","features":["name"],"where":["name!=x","at>2024"]`, `where[1]: path /at is a time by the schema`},
		{`"label":"paid","features":["name"],"where":["at!=","paid=true"]`, ""},
		{`"label":"paid","features":["/lines/1/price","/sums/a","name"]`, `without a range in ORIEL_FEATURES_RANGE: "price", "a". A`},
	} {
		for _, format := range []string{"avro", "protobuf"} {
			file := map[string]string{"avro": "o.avsc", "protobuf": "o.proto"}[format]
			s, err := settings.Load(usual(
				"ORIEL_FEATURES_RANGE=h:0:24,d:0:31,name:0:1", "ORIEL_FORMAT="+format,
				"ORIEL_SCHEMA_MESSAGE="+map[string]string{"protobuf": "O"}[format],
				"ORIEL_SCHEMA_FILE="+filepath.Join(folder, file), "ORIEL_MAP={"+c.items+"}",
			), settings.Events, settings.Operator)
			if err != nil {
				t.Fatal(err)
			}
			got := slices.DeleteFunc(Unseen(s), func(text string) bool {
				return strings.HasSuffix(text, "no feature of ORIEL_MAP has that name")
			})
			if c.want == "" && len(got) > 0 || c.want != "" && (len(got) != 1 || !strings.Contains(got[0], c.want)) {
				t.Errorf("%s, %s: %q, want %q", format, c.items, got, c.want)
			}
		}
	}
}
