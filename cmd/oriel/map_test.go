package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"oriel/cmd/internal/servicetest"
)

// TestAMappingStandsForAConverter compares records that a mapping reads with the same events converted by hand. eval
// must give the same figures for both forms, from lines and from a table.
func TestAMappingStandsForAConverter(t *testing.T) {
	t.Parallel()
	var own, nested, csv strings.Builder
	csv.WriteString("at,what,n,late\n")
	for i := range 60 {
		what, hour := []string{"a", "b", "NA", ""}[i/2%4], []string{"07", "23"}[i%2]
		late := []string{"3", "20", "16"}[i*7%11%3]
		label := map[string]string{"3": "-1", "20": "1", "16": "1"}[late]
		featureOf, cell := `"what":"`+what+`",`, `"`+what+`"`
		if what == "" {
			featureOf, cell = "", "null"
		}
		number := map[bool]string{true: "5", false: "0.25"}[i%5 == 0]
		own.WriteString(`{"label":` + label + `,"features":{` + featureOf + `"n":` + number + `,"hour":` + strings.TrimPrefix(hour, "0") + "}}\n")
		nested.WriteString(`{"id":7,"at":"2024-05-01T` + hour + `:10:00Z","it":{"what":` + cell + `,"n":` + number + `},"late":` + late + "}\n")
		csv.WriteString("2024-05-01 " + hour + ":10," + what + "," + number + "," + late + "\n")
	}
	hour := `{"name":"hour","from":"at","as":"hour"}]}`
	events := map[string]string{
		"": own.String(),
		`{"label":"late>15","features":["/it/what","/it/n",` + hour: nested.String(),
		`{"label":"late>15","features":["what","n:number",` + hour:  csv.String(),
	}
	var reports []any
	for document, content := range events {
		f := offline(t, map[string]string{"ORIEL_MAP": document, "ORIEL_FEATURES_RANGE": "hour:0:24:cyclic"})
		file := servicetest.WriteFile(t, "events", []byte(content))
		from := "--ndjson"
		if strings.HasPrefix(content, "at,") {
			from = "--csv"
		}
		report := f.evaluates(from, file, "--seeds", "1")
		// the first row has noise, which depends on all settings
		reports = append(reports, fmt.Sprint(report.Events, report.Rows[1:]))
	}
	if reports[0] != reports[1] || reports[0] != reports[2] {
		t.Errorf("reports differ:\n%+v", reports)
	}
}

// TestProblemsOfMappedRecords checks that an error of a mapped record names its member, path and rule, and never its
// value.
func TestProblemsOfMappedRecords(t *testing.T) {
	t.Parallel()
	f := offline(t, map[string]string{
		"ORIEL_MAP": `{"where":"/s=ok","label":"/late>15","features":["/what","/n:number",{"name":"hour","from":"/at","as":"hour"}]}`,
	})
	for _, x := range [][2]string{
		{`{"s":"ok","late":1,"n":"secret"}`, `features.n: unreadable_value: /n is a text that does not say a number`},
		{`{"s":"ok","late":1,"what":["secret"]}`, `features.what: wrong_type: /what is a list, an object or bytes; it must be a number, a text or a boolean`},
		{`{"s":"ok","late":1,"at":1714521600}`, `features.hour: unreadable_value: /at is a number that does not say a time of ISO 8601; a number needs epoch`},
		{`{"s":"secret","late":1}`, `filtered: ORIEL_MAP keeps records with /s=ok`},
		{`{"s":"ok","late":1,"late":2}`, `duplicate_name: /late: an object has no name twice`},
		{`{"s":"ok","late":1,"x":[1,2,}`, `json_syntax: `},
		{`{"s":"ok","late":1,"n":"1e999"}`, `features.n: unreadable_value: /n is a text`},
	} {
		p := f.Start(nil, "eval", "--ndjson", servicetest.WriteFile(t, "event", []byte(x[0]+"\n")))
		if p.Finish(time.Minute) || !strings.Contains(p.Output(), "the first is line 1: "+x[1]) ||
			strings.Contains(p.Output(), "secret") {
			t.Errorf("%s: %s", x[0], p.Output())
		}
	}
	rows := servicetest.WriteFile(t, "rows", []byte("s,late,what\nok,16,\n\"a\"\"b\",3,NA\n"))
	f.Fails("--label: ORIEL_MAP says", "eval", "--csv", rows, "--label", "late>1")
}

// TestSchemaOfMappedRecords checks that the schema of mapped records accepts all records that become events, whatever
// members the mapping ignores, and that it describes how the mapping uses each place.
func TestSchemaOfMappedRecords(t *testing.T) {
	environ := []string{"ORIEL_OPERATOR=coco", "ORIEL_LOSS=logistic", "ORIEL_DIMENSION=8", `ORIEL_MAP={"where":"s!=no","label":"/o/late>15",
		"features":["/o/l/2/n:number",{"name":"hour","from":"at","as":"hour"},{"name":"day","from":"at","as":"weekday"}]}`}
	taken := map[string]bool{
		`{"s":"ok","o":{"late":20,"l":[{},null,{"n":"3"}],"more":1},"at":"2024-05-01"}`: true, `{"o":{"late":false},"at":null}`: true,
		`{"o":{}}`: false, `{}`: false, `{"o":{"late":1},"at":7}`: false, `{"o":{"late":1,"l":[0,0,{"n":[]}]}}`: false, `{"o":{"late":1},"x":1}`: true,
	}
	for _, unknown := range []string{"ignore", "null"} {
		text, err := schemaOf("events", append(environ, "ORIEL_UNKNOWN="+unknown))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), `"features.hour; features.day"`) || !strings.Contains(string(text), `"where: != no"`) {
			t.Errorf("%s", text)
		}
		var document any
		if err := json.Unmarshal(text, &document); err != nil {
			t.Fatal(err)
		}
		c := jsonschema.NewCompiler()
		if err := c.AddResource("mapped.json", document); err != nil {
			t.Fatal(err)
		}
		schema, err := c.Compile("mapped.json")
		if err != nil {
			t.Fatal(err)
		}
		for record, want := range taken {
			var value any
			if err := json.Unmarshal([]byte(record), &value); err != nil {
				t.Fatal(err)
			}
			want = want && (unknown == "ignore" || !strings.Contains(record, `"x"`) && !strings.Contains(record, `"more"`))
			if err := schema.Validate(value); (err == nil) != want {
				t.Errorf("%s, unknown %s: %v", record, unknown, err)
			}
		}
	}
}

// says runs a command inside the test and returns its standard output and standard error.
func says(t *testing.T, args ...string) (out, notes string, err error) {
	t.Helper()
	var o, n strings.Builder
	cmd := root()
	cmd.SetArgs(args)
	cmd.SetIn(strings.NewReader(""))
	cmd.SetOut(&o)
	cmd.SetErr(&n)
	err = cmd.ExecuteContext(t.Context())
	return o.String(), n.String(), err
}

// orders returns n lines of nested JSON, each between front and back, with members that no setting uses.
func orders(n int, front, back string) []byte {
	var lines strings.Builder
	for i := range n {
		fmt.Fprintf(&lines, `%s{"order_id":"o-%d","at":"2026-03-%02dT%02d:05:00Z","customer":{"id":"c-%d","country":%q},`+
			`"order":{"total":"%d.50","lines":[{"sku":"secret"}]},"refunded":%t,"note":"secret %d"}%s`+"\n",
			front, i, i%28+1, i%24, i%7, []string{"DE", "FR", "US"}[i%3], i%90, i%5 == 0, i, back)
	}
	return []byte(lines.String())
}

// TestAMappingIsProposed checks that a proposal distinguishes features, times, identifiers and free text. It may show
// contents of records only in the first events.
func TestAMappingIsProposed(t *testing.T) {
	t.Parallel()
	const document = `{
  "label": "/refunded",
  "features": [
    {"name": "hour", "from": "/at", "as": "hour"},
    {"name": "weekday", "from": "/at", "as": "weekday"},
    "/customer/country",
    "/order/total:number"
  ]
}
`
	for _, c := range [][2]string{{}, {`{"specversion":"1.0","id":"1","source":"/shop","type":"order","data":`, `}`}} {
		file := servicetest.WriteFile(t, "orders", orders(100, c[0], c[1]))
		out, notes, err := says(t, "map", "--sample", file, "--label", "/refunded")
		if err != nil || out != document {
			t.Fatalf("%v\n%s", err, out)
		}
		for _, text := range []string{
			"/order_id: an identifier", "/customer/id: an identifier", "/note: most values come once", "/order/lines: a list",
			"ORIEL_FEATURES_RANGE=hour:0:24:cyclic,weekday:1:8:cyclic,total:0:100\n", "a number from a sample is not public",
			`{"features":{"hour":0,"weekday":7,"country":"DE","total":0.5},"label":true}`,
		} {
			if !strings.Contains(notes, text) {
				t.Errorf("%s\nlacks %s", notes, text)
			}
		}
		_, notes, err = says(t, "map", "--sample", file, "--first", "0")
		if err != nil || !strings.Contains(notes, "--label names the predicted value; of two classes are /refunded") ||
			strings.Contains(notes, "secret") || strings.Contains(notes, "DE") {
			t.Errorf("%v\n%s", err, notes)
		}
	}
	open := servicetest.WriteFile(t, "open", append([]byte(`{"refunded":null,"order":{"total":"7.50"}}`+"\n"), orders(99, "", "")...))
	_, notes, err := says(t, "map", "--sample", open, "--label", "/refunded")
	if err != nil || !strings.Contains(notes, "no event: label: missing_member: /refunded is null\n") {
		t.Errorf("a record without a label: %v\n%s", err, notes)
	}
	unknown := servicetest.WriteFile(t, "record", []byte("\x00\x00\x00\x00\x07\x02\x04"))
	_, _, err = says(t, "map", "--sample", unknown)
	if err == nil || !strings.Contains(err.Error(), "--schema-file names it") {
		t.Error(err)
	}
	alone := servicetest.WriteFile(t, "alone", []byte(`{"amount":1}`+"\n"))
	_, notes, err = says(t, "map", "--sample", alone, "--label", "/amount>1")
	if err == nil || !strings.Contains(err.Error(), "--label: /amount>1: no other member can be a feature by itself") ||
		!strings.Contains(notes, "1 of 1 records are JSON") {
		t.Errorf("a label alone: %v\n%s", err, notes)
	}
}
