package setup

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"oriel/cmd/internal/recordschema"
	"oriel/cmd/internal/setup/sample"
	_ "oriel/mechanisms/mechtest/tiertest" // sets up the test process
	"oriel/schemas/mapping"
)

// columnsOf returns the columns of n JSON lines; line returns the i-th line.
func columnsOf(t *testing.T, n int, line func(i int) string) []Column {
	t.Helper()
	var records [][]byte
	for i := range n {
		records = append(records, []byte(line(i)))
	}
	columns, read, err := Columns(sample.Encoding{Format: recordschema.JSON}, records)
	if err != nil || read.Readable != n {
		t.Fatalf("%d of %d, %v", read.Readable, n, err)
	}
	return columns
}

// TestWhatColumnsBecome checks that the use of a column follows from its name, the kinds of its values, and the number
// of different values.
func TestWhatColumnsBecome(t *testing.T) {
	for value, want := range map[string]string{
		`"x": 12.5`:                        "x:number x:0:20",
		`"x": "12.50"`:                     "x:number x:0:20",
		`"x": -3`:                          "x:number x:-5:0",
		`"x": 0`:                           "x:number x:0:1",
		`"x": true`:                        "left: the same in the whole sample",
		`"x": %d, "y": 0`:                  "x:number y:number x:0:100 y:0:1",
		`"x_id": %d`:                       "left: an identifier",
		`"userId": "u%d"`:                  "left: an identifier",
		`"x": "free text %d"`:              "left: most values come once",
		`"x": ["a", {"b": 1}]`:             "left: a list",
		`"x": null`:                        "left: no value in the sample",
		`"x": ""`:                          "left: no value in the sample",
		`"x": "2026-03-01T07:00:00Z"`:      "hour:hour weekday:weekday hour:0:24:cyclic weekday:1:8:cyclic",
		`"x": "2026-03-01"`:                "weekday:weekday month:month weekday:1:8:cyclic month:1:13:cyclic",
		`"x": "2026-03-01T00:00:00Z"`:      "weekday:weekday month:month weekday:1:8:cyclic month:1:13:cyclic",
		`"date": 20640`:                    "weekday:weekday/d month:month/d weekday:1:8:cyclic month:1:13:cyclic",
		`"price": 20640`:                   "price:number price:0:50000",
		`"date": 1780012800000`:            "weekday:weekday/ms month:month/ms weekday:1:8:cyclic month:1:13:cyclic",
		`"created_at": 1780000000`:         "hour:hour/s weekday:weekday/s hour:0:24:cyclic weekday:1:8:cyclic",
		`"ts": 1780000000123`:              "hour:hour/ms weekday:weekday/ms hour:0:24:cyclic weekday:1:8:cyclic",
		`"price": 1780000000123`:           "price:number price:0:2000000000000",
		`"a": {"x": 1.5}, "b": {"x": 2.5}`: "x:number b_x:number x:0:2 b_x:0:5",
		`"x": 1, "broken": {"x y,z:": 3}`:  "x:number x_y_z_:number x:0:2 x_y_z_:0:5",
		`"at": "2026-03-01 07:00", "hour": 3`: "hour:hour weekday:weekday hour_2:number " +
			"hour:0:24:cyclic weekday:1:8:cyclic hour_2:0:5",
	} {
		columns := columnsOf(t, 60, func(i int) string {
			return "{" + strings.ReplaceAll(value, "%d", fmt.Sprint(i)) + "}"
		})
		p := Propose(columns, nil)
		var got []string
		for _, item := range p.Items {
			text := item.Name + ":" + item.As
			if item.Epoch != "" {
				text += "/" + item.Epoch
			}
			got = append(got, text)
		}
		for _, r := range p.Ranges {
			got = append(got, r.String())
		}
		for _, text := range p.Left {
			_, reason, _ := strings.Cut(text, ": ")
			got = append(got, "left: "+reason)
		}
		if text := strings.Join(got, " "); !strings.HasPrefix(text, want) || len(p.Left) == 0 && text != want {
			t.Errorf("%s: %s, want %s", value, text, want)
		}
		if _, err := mapping.Parse(Document("", "", p.Items, nil)); err != nil {
			t.Errorf("%s: %v", value, err)
		}
	}
}

// TestFewOtherValuesChangeNoKind checks that a column is proposed by nearly all of its values, and that the others are
// counted: one text among 1 000 numbers made a category of each number, or left the column out.
func TestFewOtherValuesChangeNoKind(t *testing.T) {
	for _, c := range []struct{ usual, odd, want, mixed string }{
		{`%d.5`, `"n/a"`, "x number 0:1000", "/x: 999 numbers and 1 text: read as numbers"},
		{`"%d"`, `"-"`, "x number 0:1000", "/x: 999 numbers and 1 text: read as numbers"},
		{`%d`, `true`, "x number 0:1000", "/x: 999 numbers and 1 boolean: read as numbers"},
		{`%d`, `1e15`, "x number 0:1000", "/x: 1 of 1000 numbers are ten times as far out"},
		{`%d`, `-1e15`, "x number 0:1000", "/x: 1 of 1000 numbers are ten times as far out"},
		{`"2026-03-01T07:00:%d0Z"`, `"soon"`, "hour hour 0:24 weekday weekday 1:8", "/x: 999 times and 1 text: read as times"},
		{`true`, `"no"`, "x  class /x", "/x: 1 text and 999 booleans: each kind is a category"},
		{`"a"`, `5`, "x ", "/x: 1 number and 999 texts: each kind is a category"},
		{`%d`, `null`, "x number 0:1000", ""},
		{`%d`, `{"v":1}`, "x number 0:1000", "/x: 999 numbers and 1 list or object: read as numbers"},
		{`%d`, `[1]`, "x number 0:1000", "/x: 999 numbers and 1 list or object: read as numbers"},
		{`"a"`, `{"v":1}`, "", "/x: 999 texts and 1 list or object: a record with a list"},
	} {
		columns := columnsOf(t, 1000, func(i int) string {
			value := strings.ReplaceAll(c.usual, "%d", fmt.Sprint(i))
			if strings.HasPrefix(c.usual, `"2026`) {
				value = strings.ReplaceAll(c.usual, "%d", fmt.Sprint(i%6))
			}
			if i == 500 {
				value = c.odd
			}
			return `{"x":` + value + `}`
		})
		p := Propose(columns, nil)
		var got []string
		for k, item := range p.Items {
			got = append(got, item.Name, item.As)
			if k < len(p.Ranges) {
				got = append(got, fmt.Sprintf("%g:%g", p.Ranges[k].Low, p.Ranges[k].High))
			}
		}
		for _, path := range p.Classes {
			got = append(got, "class "+path)
		}
		text, mixed := strings.Join(got, " "), strings.Join(p.Mixed, "\n")
		if text != c.want || !strings.HasPrefix(mixed, c.mixed) || (c.mixed == "") != (mixed == "") {
			t.Errorf("%s and %s: %s, %s; want %s, %s", c.usual, c.odd, text, mixed, c.want, c.mixed)
		}
	}
	columns := columnsOf(t, 1000, func(i int) string {
		if i == 500 {
			return `{"x":7}`
		}
		return fmt.Sprintf(`{"x":{"v":%d}}`, i)
	})
	if p := Propose(columns, nil); len(p.Items) != 1 || p.Items[0].Path.String() != "/x/v" || p.Mixed != nil ||
		len(p.Left) != 1 || !strings.HasPrefix(p.Left[0], "/x: a list or an object in 999 of 1000 records") {
		t.Errorf("one number among objects: %+v", p)
	}
	columns = columnsOf(t, 60, func(i int) string { // ten of sixty are no exception
		return fmt.Sprintf(`{"x":%s}`, map[bool]string{true: `"few"`, false: "7"}[i%6 == 0])
	})
	if p := Propose(columns, nil); len(p.Items) != 1 || p.Items[0].As != "" || len(p.Mixed) != 1 {
		t.Errorf("a sixth of texts: %+v", p)
	}
}

// TestRangesAroundNumbers checks that a proposed range contains the given values and has round ends.
func TestRangesAroundNumbers(t *testing.T) {
	for _, c := range [][4]float64{
		{0, 0, 0, 1},
		{3, 7, 0, 10},
		{0, 10, 0, 20},
		{0.02, 0.04, 0, 0.05},
		{-1, 3, -5, 5},
		{-30, 3, -50, 50},
		{-7, -2, -10, 0},
	} {
		if low, high := around(c[0], c[1]); math.Abs(low-c[2]) > 1e-12 || math.Abs(high-c[3]) > 1e-12 {
			t.Errorf("%g to %g: %g to %g", c[0], c[1], low, high)
		}
	}
}

// TestAnswers checks that malformed answers are refused with a description of the error.
func TestAnswers(t *testing.T) {
	proposed := []Range{{"hour", 0, 24, true}, {"total", 0, 100, false}, {"items", 0, 10, false}}
	refuses := func(err error, want string) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	all, err := Confirm("proposed", proposed)
	if err != nil || !slices.Equal(all, proposed) {
		t.Errorf("%v, %v", all, err)
	}
	some, err := Confirm("total:-5:2e3", proposed)
	if err != nil || Ranges(some) != "hour:0:24:cyclic,total:-5:2000" {
		t.Errorf("%v, %v", some, err)
	}
	items := []Item{{Name: "total", As: "number"}, {Name: "items", As: "number"}, {Name: "country"}}
	if kept, dropped := Confirmed(items, some); len(kept) != 2 || len(dropped) != 1 || dropped[0] != "items" {
		t.Errorf("%v, %v", kept, dropped)
	}
	for text, want := range map[string]string{
		"totals:0:1": "not a number of the mapping; its numbers are total, items", "total:1:1": "low below high",
		"total":     "not name",
		"total:x:1": "not name", ":0:1": "not name", "total:0:Inf": "not name",
	} {
		_, err := Confirm(text, proposed)
		refuses(err, want)
	}
	for text, want := range map[string]uint64{"2": 2, "65536": 65536, "1d": 864000, "90m": 54000, "250ms": 3} {
		if n, err := Memory(text, 10); err != nil || n != want {
			t.Errorf("%s: %d, %v", text, n, err)
		}
	}
	for text, want := range map[string]string{
		"1": "not from 2", "x": "neither", "xd": "neither", "1ms": "not from 2",
	} {
		_, err := Memory(text, 10)
		refuses(err, want)
	}
	_, err = Memory("1d", 0)
	refuses(err, "needs --rate")
	for text, want := range map[string][2]float64{"1": {1, 0}, "±2": {0, 2}, "+-0.5": {0, 0.5}} {
		if e, half, err := Accuracy(text); err != nil || e != want[0] || half != want[1] {
			t.Errorf("%s: %g, %g, %v", text, e, half, err)
		}
	}
	for text, want := range map[string]string{
		"0": "neither", "x": "neither", "±0": "neither", "±-1": "neither", "51": "promises nothing",
	} {
		_, _, err := Accuracy(text)
		refuses(err, want)
	}
	_, err = CellItems(items, "town=A|B")
	refuses(err, "the records have total, items, country")
	_, err = CellItems(items, "country")
	refuses(err, "neither name=place|place")
	if cells, err := CellItems(items, "country=DE|FR,/a/b=0:3:3"); err != nil || len(cells) != 2 || cells[1].Name != "b" {
		t.Errorf("%v, %v", cells, err)
	}
}

// TestWhatASampleShows checks which settings a sample determines, for example its framing, and that errors name the
// facts that the user must add.
func TestWhatASampleShows(t *testing.T) {
	avsc := filepath.Join(t.TempDir(), "order.avsc")
	schema := `{"type":"record","name":"Order","fields":[{"name":"total","type":"double"},{"name":"raw","type":"bytes"},
		{"name":"at","type":{"type":"long","logicalType":"timestamp-millis"}},{"name":"tags","type":{"type":"array","items":"int"}}]}`
	if err := os.WriteFile(avsc, []byte(schema), 0o600); err != nil {
		t.Fatal(err)
	}
	record := "\x00\x00\x00\x00\x00\x00\x29\x40" + "\x02r" + "\x80\x80\xa8\xc1\xcc\x67" + "\x00"
	for _, c := range []struct {
		told    sample.Encoding
		records []string
		want    string // expected settings and columns, or expected error
	}{
		{sample.Encoding{}, []string{`{"a":1}`}, "/a"},
		{sample.Encoding{}, []string{"\x00\x00\x00\x00\x07{\"a\":1}"}, "ORIEL_FRAMING=confluent /a"},
		{sample.Encoding{}, []string{`{"specversion":"1.0","data":{"a":{"b":1}}}`, `{}`, `{"specversion":"1.0","data":{}}`}, "ORIEL_FRAMING=cloudevents /a/b"},
		{sample.Encoding{}, []string{"\x00\x00\x00\x00\x07\x02"}, "nothing names their schema"},
		{sample.Encoding{}, []string{"\x08\x02"}, "nothing names their schema"},
		{sample.Encoding{}, nil, "no record"},
		{
			sample.Encoding{SchemaFile: avsc},
			[]string{record},
			"ORIEL_FORMAT=avro ORIEL_SCHEMA_FILE=" + avsc + " /total /at /tags /raw",
		},
		{
			sample.Encoding{SchemaFile: avsc, Framing: recordschema.Confluent},
			[]string{"\x00\x00\x00\x00\x09" + record},
			"ORIEL_FORMAT=avro ORIEL_FRAMING=confluent ORIEL_SCHEMA_FILE=" + avsc + " ORIEL_SCHEMA_IDS=9 /total /at /tags /raw",
		},
		{
			sample.Encoding{SchemaFile: avsc, Framing: recordschema.Confluent},
			[]string{"\x00\x00\x00\x00\x09" + record, "\x00\x00\x00\x00\x08" + record},
			"records name 2 schemas, ids 8, 9",
		},
		{sample.Encoding{SchemaFile: "none.avsc"}, []string{record}, "no such file"},
		{sample.Encoding{Format: "xml"}, []string{`{}`}, `format "xml": not one of`},
	} {
		var records [][]byte
		for _, text := range c.records {
			records = append(records, []byte(text))
		}
		got, err := c.told.Sniff(records)
		text := strings.Join(got.Settings(), " ")
		if err == nil {
			var columns []Column
			inner, inside := got.Inside(records)
			columns, _, err = Columns(inner, inside)
			for _, column := range columns {
				text = strings.TrimSpace(text + " " + column.Path.String())
			}
		}
		if err != nil {
			text = err.Error()
		}
		if text != c.want && (err == nil || !strings.Contains(text, c.want)) {
			t.Errorf("%q: %s, want %s", c.records, text, c.want)
		}
	}
}

func TestNothingIsOverwritten(t *testing.T) {
	name := filepath.Join(t.TempDir(), "file")
	if err := WriteNew(name, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	err := WriteNew(name, []byte("new"), 0o600)
	if content, _ := os.ReadFile(name); err == nil || string(content) != "old" {
		t.Errorf("%s, %v", content, err)
	}
}

// TestColumnsOfAllRecordsOfAUnion checks that a proposal sees the fields of each type of event, and of each type of a
// nested record.
func TestColumnsOfAllRecordsOfAUnion(t *testing.T) {
	record := func(name, fields string) string {
		return `{"type":"record","name":"` + name + `","fields":[{"name":"amount","type":"double"},` + fields + `]}`
	}
	file := filepath.Join(t.TempDir(), "events.avsc")
	by := `["null",` + record("Clerk", `{"name":"shop","type":"string"}`) + `,` +
		record("Robot", `{"name":"rule","type":"int"},{"name":"tags","type":{"type":"array","items":"string"}}`) + `]`
	text := "[" + record("Placed", `{"name":"channel","type":"string"}`) + "," +
		record("Cancelled", `{"name":"reason","type":"string"},{"name":"by","type":`+by+`}`) + "]"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	const amount = "\x00\x00\x00\x00\x00\x00\xf0\x3f"
	columns, saw, err := Columns(sample.Encoding{Format: recordschema.Avro, SchemaFile: file}, [][]byte{
		[]byte("\x00" + amount + "\x06web"), []byte("\x02" + amount + "\x08late" + "\x04" + amount + "\x06\x00"),
	})
	if err != nil || saw.Readable != 2 {
		t.Fatal(saw, err)
	}
	var got []string
	for _, c := range columns {
		got = append(got, fmt.Sprint(c.Path, c.Present))
	}
	want := "/amount 2 /channel 1 /reason 1 /by/amount 1 /by/shop 0 /by/rule 1 /by/tags 0"
	if text := strings.Join(got, " "); text != want {
		t.Errorf("columns %s, want %s", text, want)
	}
}

// TestMapsAndBytesAreNamed checks that a map and bytes of a schema are listed as left out, and that a path to an entry
// of the map is known, although the schema has no keys.
func TestMapsAndBytesAreNamed(t *testing.T) {
	avsc := filepath.Join(t.TempDir(), "order.avsc")
	schema := `{"type":"record","name":"Order","fields":[
		{"name":"by","type":{"type":"map","values":"string"}},{"name":"raw","type":"bytes"}]}`
	if err := os.WriteFile(avsc, []byte(schema), 0o600); err != nil {
		t.Fatal(err)
	}
	record := []byte("\x02\x02a\x02x\x00\x00")
	columns, _, err := Columns(sample.Encoding{Format: recordschema.Avro, SchemaFile: avsc}, [][]byte{record})
	left := Propose(columns, nil).Left
	if err != nil || len(left) != 2 || !strings.HasPrefix(left[0], "/by: a map, or bytes") {
		t.Errorf("left out: %q, %v", left, err)
	}
	if err := Known(columns, []mapping.Path{{"by", "a"}}); err != nil {
		t.Error(err)
	}
}
