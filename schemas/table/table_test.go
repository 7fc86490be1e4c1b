package table

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"oriel/schemas/event"
	"oriel/schemas/mapping"
	"oriel/schemas/text"
)

// readAll opens text and returns copies of its rows.
func readAll(m Mapping, text string) (rows []Row, err error) {
	r, err := m.Open(strings.NewReader(text))
	if err != nil {
		return nil, err
	}
	for {
		row, err := r.Next()
		if errors.Is(err, io.EOF) {
			return rows, nil
		}
		if err != nil {
			return rows, err
		}
		rows = append(rows, Row{row.Partition, slices.Clone(row.Key), slices.Clone(row.Event)})
	}
}

func events(rows []Row) string {
	var all []string
	for _, r := range rows {
		all = append(all, string(r.Event))
	}
	return strings.Join(all, "\n")
}

func TestRowsBecomeEvents(t *testing.T) {
	const text = "\uFEFFname,hour,delay,on\n" +
		"a,5,16,x\n" +
		",NA,15,\n" +
		"\"q\"\"\\\n\u0001é\",+05.50,-1e2,NA\n" +
		"NA,1e400,NA,x\n"
	m := Mapping{
		Where: "delay !=", Label: "delay>15", Features: []string{"name", "hour:number"}, PartitionBy: "on", Key: "name",
		Missing: []string{"NA"},
	}
	rows, err := readAll(m, text)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"features":{"name":"a","hour":5},"label":true}` + "\n" +
		`{"features":{},"label":false}` + "\n" +
		`{"features":{"name":"q\"\\\n\u0001é","hour":5.5},"label":false}`
	if events(rows) != want {
		t.Errorf("%s", events(rows))
	}
	if rows[0].Partition != "x" || rows[1].Partition != "" || rows[2].Partition != "NA" {
		t.Errorf("partitions of %+v", rows)
	}
	if string(rows[0].Key) != "a" || rows[1].Key != nil {
		t.Errorf("keys of %+v", rows)
	}

	m.Label, m.Sort, m.Features = "delay", []string{"delay"}, []string{"hour"}
	if rows, err = readAll(m, text); err != nil {
		t.Fatal(err)
	}
	want = `{"features":{"hour":"+05.50"},"label":-100}` + "\n" + `{"features":{},"label":15}` + "\n" + `{"features":{"hour":"5"},"label":16}`
	if events(rows) != want || rows[1].Key != nil || string(rows[2].Key) != "a" || rows[2].Partition != "x" {
		t.Errorf("sorted: %+v\n%s", rows, events(rows))
	}
}

func TestSortIsStableNumericWhereItCanAndPutsMissingLast(t *testing.T) {
	f := func(sort, want string) {
		t.Helper()
		m := Mapping{Label: "id", Features: []string{"id"}, Sort: strings.Split(sort, ","), Missing: []string{"NA"}}
		rows, err := readAll(m, "id,n,s,k\n1,10,10,b\n2,9,9,a\n3,NA,x,b\n4,9.0,,a\n5,-1,9,b\n")
		if err != nil {
			t.Fatal(err)
		}
		var got strings.Builder
		for _, r := range rows {
			var e struct{ Label int }
			if err := json.Unmarshal(r.Event, &e); err != nil {
				t.Fatal(err)
			}
			got.WriteString(strconv.Itoa(e.Label))
		}
		if got.String() != want {
			t.Errorf("%s: %s, want %s", sort, got.String(), want)
		}
	}
	f("n", "52413")
	f("s", "12534")
	f("k", "24135")
	f("k,n", "24513")
	f("k,id", "24135")
}

func TestValidateReportsEveryProblem(t *testing.T) {
	for _, x := range []struct {
		m     Mapping
		words []string
	}{
		{Mapping{Where: "a", Features: []string{"a/b"}, Sort: []string{"a", "a"}}, []string{"where", "features", "sort"}},
		{Mapping{Comma: '"'}, []string{"label", "features", "comma"}},
	} {
		err := x.m.Validate()
		for _, word := range x.words {
			if err == nil || !strings.Contains(err.Error(), "table: "+word) {
				t.Errorf("%v: %s is not named", err, word)
			}
		}
	}
	for _, m := range []Mapping{
		{Label: "a!b", Features: []string{"f"}},
		{Label: "a", Features: []string{""}},
		{Label: "a", Features: []string{":number"}},
		{Label: "a", Features: []string{"f", "f:number"}},
		{Label: "a", Features: []string{"f"}, Sort: []string{""}},
	} {
		if m.Validate() == nil {
			t.Errorf("%+v is taken", m)
		}
	}
}

func TestErrorsNamePlaceAndRuleAndNeverACell(t *testing.T) {
	f := func(m Mapping, text string, words ...string) {
		t.Helper()
		rows, err := readAll(m, text)
		if err == nil {
			t.Fatalf("%q is taken: %s", text, events(rows))
		}
		for _, word := range words {
			if !strings.Contains(err.Error(), word) {
				t.Errorf("%v: without %q", err, word)
			}
		}
		if strings.Contains(err.Error(), "canary") || !strings.HasPrefix(err.Error(), "table: ") {
			t.Errorf("%v", err)
		}
	}
	m := Mapping{Label: "b", Features: []string{"a:number"}}
	f(m, "")
	f(m, "a,c\n", `label: no column "b"; there are "a", "c"`)
	f(m, strings.Repeat("x", 90)+"\x01,y\u202e,c\n", `; there are "`+strings.Repeat("x", 64)+`…", "y\u202e", "c"`)
	var many []string
	for i := range 60 {
		many = append(many, fmt.Sprint("c", i))
	}
	f(m, strings.Join(many, ",")+"\n", `"c49" and 10 more`)
	f(m, "a,b,b\n", `several columns "b"`)
	f(m, "a,b\n1,2\n1,canary\n", "line 3: label", "/b ")
	f(m, "a,b\n1,2\n1,\n", "line 3", "label", "missing_member")
	f(m, "a,b\n1,2\n1,NA\n", "line 3", "label", "/b is a text that does not say a number")
	m.Missing = []string{"NA"}
	f(m, "a,b\n1,2\n1,NA\n", "line 3", "missing_member")
	m.Missing = nil
	f(Mapping{Label: "b>1", Features: []string{"a"}}, "a,b\n1,2\n1,NA\n", "line 3", "does not say a number to compare")
	f(m, "a,b\ncanary,2\n", "line 2: features.a", "/a is a text that does not say a number")
	f(m, "a,b\n1,2\n\"canary\n", "line")
	f(m, "a,b\n1,2\ncanary\n", "line 3")
	f(m, "a,b\n1,2,canary\n", "line 2")
	f(Mapping{Label: "b>1", Features: []string{"a"}}, "a,b\n\"x\ny\",1\n1,\n", "line 4", "label", "missing")
	f(Mapping{Label: "b", Features: []string{"a"}}, "a,b\ncanary\xff,1\n", "line 2", "UTF-8")
	f(Mapping{Label: "b", Features: []string{"a"}, Sort: []string{"s"}, Key: "k", PartitionBy: "p", Where: "w=1"}, "a,b\n", `sort: no column "s"`,
		`key: no column "k"`, `partition_by: no column "p"`, `where: no column "w"`)
}

// TestFlights maps real lines as the README does and compares the events with a slow reference model. The decoder must
// accept every event.
func TestFlights(t *testing.T) {
	b, err := os.ReadFile(filepath.Join("testdata", "flights.csv"))
	if err != nil {
		t.Fatal(err)
	}
	m := Mapping{
		Where: "arr_delay!=NA", Label: "arr_delay>15",
		Features:    []string{"origin", "carrier", "hour:number", "distance:number", "tailnum"},
		PartitionBy: "origin", Key: "tailnum", Sort: []string{"year", "month", "day", "sched_dep_time"},
	}
	rows, err := readAll(m, string(b))
	if err != nil {
		t.Fatal(err)
	}

	lines, err := csv.NewReader(bytes.NewReader(b)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	number := func(cell string) int {
		n, err := strconv.Atoi(cell)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	var want [][]string
	for _, c := range lines[1:] {
		if c[8] != "NA" {
			want = append(want, c)
		}
	}
	slices.SortStableFunc(want, func(a, b []string) int {
		return slices.Compare([]int{number(a[0]), number(a[1]), number(a[2]), number(a[4])},
			[]int{number(b[0]), number(b[1]), number(b[2]), number(b[4])})
	})
	if len(rows) != len(want) || len(want) == len(lines)-1 {
		t.Fatalf("%d rows, want %d of %d", len(rows), len(want), len(lines)-1)
	}
	d, err := event.NewJSONDecoder(event.Config{
		Body: eventBody(event.KindClass), Dimension: 32, MaxBytes: 1 << 12,
		Features: event.FeatureConfig{Bias: true, Norm: "unit"},
	})
	if err != nil {
		t.Fatal(err)
	}
	for k, c := range want {
		var e struct {
			Features struct {
				Origin, Carrier, Tailnum string
				Hour, Distance           int
			}
			Label bool
		}
		if err := json.Unmarshal(rows[k].Event, &e); err != nil {
			t.Fatal(err)
		}
		if e.Features.Origin != c[12] || e.Features.Carrier != c[9] || e.Features.Tailnum != c[11] ||
			e.Features.Hour != number(c[16]) || e.Features.Distance != number(c[15]) ||
			e.Label != (number(c[8]) > 15) || rows[k].Partition != c[12] || string(rows[k].Key) != c[11] {
			t.Fatalf("row %d: %+v, want %v", k, e, c)
		}
		var event event.Event
		if code := d.Decode(&event, rows[k].Event); code != text.OK {
			t.Fatalf("row %d: %v", k, code)
		}
	}
}

// eventBody returns a body with features and a label of the kind.
func eventBody(label event.Kind) event.Body {
	return event.Body{Name: "test", Members: []event.Member{
		{Name: "features", Kind: event.KindFeatures}, {Name: "label", Kind: label},
	}}
}

var playBody = event.Body{Name: "play", Members: []event.Member{
	{Name: "arm", Kind: event.KindChoice, Choices: []string{"north", "so\"uth"}},
	{Name: "reward", Also: "gain", Kind: event.KindNumber, Most: 1},
	{Name: "tries", Kind: event.KindCount, Optional: true, Default: -1},
	{Name: "context", Kind: event.KindVector, Optional: true},
	{Name: "weight", Kind: event.KindWeight, Optional: true, Default: 1},
}}

// TestMembersOfABodyBecomeEvents checks that the decoder of the body accepts the events.
func TestMembersOfABodyBecomeEvents(t *testing.T) {
	const s = "where,paid,n,x,y,play,w\nnorth,0.25,3.0,1,-2e3,p1,2\n\"so\"\"uth\",1,NA,0,+.5,p2,\n"
	m := Mapping{
		Body: playBody, Members: []string{"arm=where", "gain=paid", "tries=n", "context=x,y", "weight=w"}, Key: "play",
		Missing: []string{"NA"},
	}
	d, err := event.NewJSONDecoder(event.Config{Body: playBody, Dimension: 2, MaxBytes: 1 << 12})
	if err != nil {
		t.Fatal(err)
	}
	want := `{"arm":"north","reward":0.25,"tries":3,"context":[1,-2000],"weight":2}` + "\n" +
		`{"arm":"so\"uth","reward":1,"context":[0,0.5]}`
	for _, sort := range [][]string{nil, {"play"}} {
		m.Sort = sort
		rows, err := readAll(m, s)
		if err != nil {
			t.Fatal(err)
		}
		if events(rows) != want || string(rows[0].Key) != "p1" || string(rows[1].Key) != "p2" {
			t.Errorf("%s, keys %s %s", events(rows), rows[0].Key, rows[1].Key)
		}
		var e event.Event
		for _, row := range rows {
			if code := d.Decode(&e, row.Event); code != text.OK {
				t.Errorf("%s: %v", row.Event, code)
			}
		}
	}
}

// TestVectorOfOneColumn checks a vector with one coordinate. A path below a cell must be refused.
func TestVectorOfOneColumn(t *testing.T) {
	m := Mapping{Body: playBody, Members: []string{"arm=a", "reward=r", "context=x"}}
	rows, err := readAll(m, "a,r,x\nnorth,1,7\n")
	if want := `{"arm":"north","reward":1,"context":[7]}`; err != nil || events(rows) != want {
		t.Errorf("%v: %s", err, events(rows))
	}
	m.Members[1] = "reward=/x/r"
	if rows, err = readAll(m, "a,r,x\nnorth,1,7\n"); err == nil || !strings.Contains(err.Error(), `members: no column "x"`) {
		t.Errorf("%v: %s", err, events(rows))
	}
}

// TestFormsOfADocument checks that a table accepts the long forms and the row members of a mapping document.
func TestFormsOfADocument(t *testing.T) {
	document, err := mapping.Parse([]byte(`{"where":["n>=0","on!="],"label":"delay>15","features":["name",
		{"name":"hour","from":"at","as":"hour","zone":"+02:00"},{"name":"k","from":"n","scale":0.5}],"partition_by":"on","key":"name","sort":["n"]}`))
	if err != nil {
		t.Fatal(err)
	}
	rows, err := readAll(Mapping{Document: document, Missing: []string{"NA"}}, "name,at,n,on,delay\n"+
		"a,2024-05-01 10:00Z,3,x,20\nb,2024-05-01T23:59:59,1,y,1\nc,,-1,x,1\nd,,1,NA,1\n")
	want := `{"features":{"name":"b","hour":23,"k":0.5},"label":false}` + "\n" + `{"features":{"name":"a","hour":12,"k":1.5},"label":true}`
	if err != nil || events(rows) != want || rows[0].Partition != "y" || string(rows[1].Key) != "a" {
		t.Errorf("%v: %s", err, events(rows))
	}
}

// TestWholeRows checks that whole rows are objects of their cells.
func TestWholeRows(t *testing.T) {
	m := Mapping{Whole: true, Where: "b!=", Key: "a", Missing: []string{"NA"}}
	rows, err := readAll(m, "a,\"b\"\"c\",b\n1,,x\nNA,\"q\"\"\",0\n,1,NA\n")
	if want := `{"a":"1","b":"x"}` + "\n" + `{"b\"c":"q\"","b":"0"}`; err != nil || events(rows) != want || string(rows[0].Key) != "1" {
		t.Errorf("%v: %s", err, events(rows))
	}
	m.Label = "a"
	if rows, err = readAll(m, "a,b\n"); err == nil || !strings.Contains(err.Error(), "ORIEL_MAP says where") {
		t.Errorf("%v: %s", err, events(rows))
	}
}

// TestLabelAndFeaturesBecomeTheirMembers checks that label and features take the names that the body has for them.
func TestLabelAndFeaturesBecomeTheirMembers(t *testing.T) {
	body := event.Body{Name: "click", Members: []event.Member{
		{Name: "page", Kind: event.KindFeatures},
		{Name: "clicked", Kind: event.KindClass},
		{Name: "n", Kind: event.KindCount, Optional: true},
	}}
	m := Mapping{Body: body, Label: "c=yes", Features: []string{"a", "b:number"}, Members: []string{"n=d"}}
	rows, err := readAll(m, "a,b,c,d\nx,1,yes,4\n,2,no,\n")
	want := `{"page":{"a":"x","b":1},"clicked":true,"n":4}` + "\n" + `{"page":{"b":2},"clicked":false}`
	if err != nil || events(rows) != want {
		t.Errorf("%v: %s", err, events(rows))
	}
}

func TestMembersRefuse(t *testing.T) {
	target := event.Body{Name: "test", Members: []event.Member{{Name: "y", Kind: event.KindTarget}}}
	flags := func(rule string) string { return "--" + rule }
	f := func(want string, m Mapping) {
		t.Helper()
		if m.Called = flags; m.Body.Name == "" {
			m.Body = playBody
		}
		_, err := readAll(m, "a,p,n\nnorth,0.5,1\nsecret,7,0.5\n")
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%+v: %v, want %q", m.Members, err, want)
		}
	}
	f(`--members: nothing gives the member arm, which events must have`, Mapping{Members: []string{"reward=p"}})
	f(`--members: events have no member "prize", but arm, reward`, Mapping{Members: []string{"arm=a", "reward=p", "prize=p"}})
	f(`--members: the member reward is given twice`, Mapping{Members: []string{"arm=a", "reward=p", "gain=n"}})
	f(`--members: not a member, =, and a path`, Mapping{Members: []string{"arm"}})
	f(`--members: not a member, =, and a path`, Mapping{Members: []string{"=a"}})
	f(`--members: not a member, =, and a path`, Mapping{Members: []string{"arm="}})
	f(`--members: no column "z"`, Mapping{Members: []string{"arm=a", "reward=z"}})
	f(`--label: events have no label`, Mapping{Label: "p", Members: []string{"arm=a", "reward=p"}})
	f(`--features: events have no named features`, Mapping{Features: []string{"p"}, Members: []string{"arm=a", "reward=p"}})
	f(`--label: a comparison is true or false, and y is a number`, Mapping{Body: target, Label: "p>1"})
	f(`--members: the member y is given twice`, Mapping{Body: target, Label: "p", Members: []string{"y=n"}})
	f(`line 3: arm: unknown_choice: /a: `, Mapping{Members: []string{"arm=a", "reward=n"}})
	f(`line 3: reward: number_range: /p: `, Mapping{Where: "n<1", Members: []string{"reward=p", "arm=a"}})
	f(`line 2: reward: unreadable_value: /a is a text that does not say a number`, Mapping{Members: []string{"arm=a", "reward=a"}})
	f(`line 3: tries: count_range: /n: `, Mapping{Members: []string{"tries=n", "arm=a", "reward=n"}, Body: event.Body{
		Name: "play", Members: []event.Member{playBody.Members[2], playBody.Members[1], {Name: "arm", Kind: event.KindChoice, Choices: []string{"north", "secret"}}},
	}})
	unknown := Mapping{Label: "p", Features: []string{"a"}, Members: []string{"arm=a"}, Called: flags}
	err := unknown.Validate()
	if err == nil || !strings.Contains(err.Error(), "--members: the members of events are not known") {
		t.Errorf("without a body: %v", err)
	}
}

// TestMissingIsWhatIsNamed checks that NA is data, such as the code of Namibia, unless it is named. A row makes the
// event of the JSON object of its cells. NA may be a choice, a key and a place in the order.
func TestMissingIsWhatIsNamed(t *testing.T) {
	const text = "country,n,late\nDE,1,1\nNA,2,\nNA,3,0\n-,,1\n"
	f := func(missing []string, m Mapping, want string) {
		t.Helper()
		m.Missing = missing
		rows, err := readAll(m, text)
		got := events(rows)
		for _, row := range rows {
			got += " " + string(row.Key)
		}
		if err != nil {
			got += " " + err.Error()
		}
		if got != want {
			t.Errorf("missing %q: %s, want %s", missing, got, want)
		}
	}
	whole := Mapping{Whole: true, Key: "country", Sort: []string{"country"}}
	f(nil, whole, `{"country":"-","late":"1"}`+"\n"+`{"country":"DE","n":"1","late":"1"}`+"\n"+`{"country":"NA","n":"2"}`+"\n"+
		`{"country":"NA","n":"3","late":"0"}`+" - DE NA NA")
	f([]string{"NA", "-"}, whole, `{"country":"DE","n":"1","late":"1"}`+"\n"+`{"n":"2"}`+"\n"+`{"n":"3","late":"0"}`+"\n"+`{"late":"1"}`+
		" DE   ")
	kept := Mapping{Whole: true, Where: "country!=NA"}
	f(nil, kept, `{"country":"DE","n":"1","late":"1"}`+"\n"+`{"country":"-","late":"1"}`+"  ")
	f([]string{"NA"}, kept, ` table: where: /country compares with a text that means a missing value (missing), so no cell equals it; `+
		`a missing value is compared without a constant: /country!=`)
	f([]string{"NA"}, Mapping{Whole: true, Where: "country!="}, `{"country":"DE","n":"1","late":"1"}`+"\n"+`{"country":"-","late":"1"}`+"  ")
	labelled := Mapping{Where: "late!=", Label: "late=1", Features: []string{"country"}}
	f(nil, labelled, `{"features":{"country":"DE"},"label":true}`+"\n"+`{"features":{"country":"NA"},"label":false}`+"\n"+
		`{"features":{"country":"-"},"label":true}`+"   ")
	f([]string{"NA"}, labelled, `{"features":{"country":"DE"},"label":true}`+"\n"+`{"features":{},"label":false}`+"\n"+
		`{"features":{"country":"-"},"label":true}`+"   ")
	choice := Mapping{Where: "n!=", Members: []string{"arm=country", "reward=n"}, Body: event.Body{
		Name: "play", Members: []event.Member{
			{Name: "arm", Kind: event.KindChoice, Choices: []string{"DE", "NA"}}, {Name: "reward", Kind: event.KindNumber},
		},
	}}
	f(nil, choice, `{"arm":"DE","reward":1}`+"\n"+`{"arm":"NA","reward":2}`+"\n"+`{"arm":"NA","reward":3}`+"   ")
	f([]string{"NA"}, choice, `{"arm":"DE","reward":1}  table: line 3: arm: missing_member: /country is absent`)
}

// TestARowIsTheObjectOfItsCells draws rows and mappings, and compares the event of each row with that of the JSON
// object of its cells. The cells are texts that tables use for a missing value, and numbers, times and texts.
func TestARowIsTheObjectOfItsCells(t *testing.T) {
	r := rand.New(rand.NewPCG(43, 8))
	texts := []string{
		"", "NA", "N/A", "nan", "NaN", "null", "NULL", "None", "-", "0", "-0", "7.50", "1e3", "2026-07-06", "x y", "true",
	}
	items := []string{
		`"a"`, `"a:number"`, `"a:text"`, `"a:bool"`, `{"name":"w","from":"a","as":"weekday"}`, `{"name":"c","compare":"b>=5"}`,
		`{"name":"e","compare":"b="}`, `{"name":"n","compare":"b!=NA"}`, `{"name":"s","from":"b","scale":2}`, `"b"`,
	}
	labels := []string{`"c"`, `"c>1"`, `"c=NA"`, `"c!="`}
	made, faults := 0, 0
	for range 3000 {
		where := []string{`"c!=NA"`, `"c!="`, `"a<5"`, `[]`}[r.IntN(4)]
		document := `{"where":` + where + `,"label":` + labels[r.IntN(4)] + `,"features":[` + items[r.IntN(6)] + "," + items[6+r.IntN(4)] + `]}`
		m, err := mapping.Parse([]byte(document))
		if err != nil {
			t.Fatal(err)
		}
		cells, object := [3]string{}, map[string]string{}
		for k := range cells {
			if cells[k] = texts[r.IntN(len(texts))]; cells[k] != "" {
				object["abc"[k:k+1]] = cells[k]
			}
		}
		row, err := readAll(Mapping{Document: m}, "a,b,c\n\""+strings.Join(cells[:], "\",\"")+"\"\n")
		kind := event.KindTarget
		if m.Label.Compare != nil {
			kind = event.KindClass
		}
		d, errOpen := m.Opener(mapping.JSON(event.UnknownIsFree))(event.Config{
			Body: eventBody(kind), Dimension: 8, MaxBytes: 1 << 12, Features: event.FeatureConfig{Norm: "none"},
		})
		if errOpen != nil {
			t.Fatal(errOpen)
		}
		record, _ := json.Marshal(object)
		var e event.Event
		switch code := d.Decode(&e, record); {
		case code == text.OK:
			want := string(d.(*mapping.Decoder).AppendOwn(nil))
			if err != nil || events(row) != want {
				t.Fatalf("%s of %q: %s, %v, want %s", document, cells, events(row), err, want)
			}
			made++
		case code == text.Filtered:
			if err != nil || len(row) > 0 {
				t.Fatalf("%s of %q: %s, %v, want no event", document, cells, events(row), err)
			}
		default:
			if err == nil || !strings.HasSuffix(err.Error(), d.Problem(record, code)) {
				t.Fatalf("%s of %q: %s, %v, want %s", document, cells, events(row), err, d.Problem(record, code))
			}
			faults++
		}
	}
	if made < 300 || faults < 300 {
		t.Errorf("%d events and %d faults: too few to tell", made, faults)
	}
}
