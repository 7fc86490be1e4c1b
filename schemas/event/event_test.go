package event

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"oriel/schemas/text"
)

// document is a line of testdata/documents.jsonl, which defines valid events. The value of the record is doc, or hex,
// or repeat: a prefix, the repeated text, how often, and a suffix.
type document struct {
	Name      string
	Loss      string        // name of the loss whose body the case uses,
	Body      []namedMember // or the members of the body itself
	Dimension int
	MaxBytes  int `json:"max_bytes"` // 0: 2 MiB
	Bias      *bool
	Norm      string
	Ranges    string

	Doc    string
	Hex    string
	Repeat []any

	Code    string
	Indices []int32
	Values  []float64
	Label   float64
	Weight  float64
	Numbers []float64
}

// namedMember is a Member of a test case: its kind is given by name.
type namedMember struct {
	Kind string
	Member
}

var kindNames = []string{
	"", "vector", "features", "relatives", "class", "target", "weight", "number", "count", "choice",
}

// testBody returns a body with the members that a loss needs; the real bodies are in operators/loss.
func testBody(loss string) Body {
	features := Member{Name: "features", Kind: KindFeatures}
	b := Body{Name: "test", Members: map[string][]Member{
		"logistic": {features, {Name: "label", Kind: KindClass}}, "hinge": {features, {Name: "label", Kind: KindClass}},
		"squared": {features, {Name: "label", Kind: KindTarget}}, "absolute": {features, {Name: "label", Kind: KindTarget}},
		"threshold": {{Name: "label", Kind: KindTarget}, {Name: "features", Kind: KindFeatures, Optional: true}},
		"linear":    {{Name: "gradient", Also: "cost", Kind: KindVector}},
		"portfolio": {{Name: "relatives", Kind: KindRelatives}},
	}[loss]}
	b.Members = append(b.Members, Member{Name: "weight", Kind: KindWeight, Optional: true, Default: 1})
	return b
}

func (d document) config(tb testing.TB) Config {
	tb.Helper()
	ranges, err := ParseRanges(d.Ranges)
	if err != nil {
		tb.Fatalf("%s: %v", d.Name, err)
	}
	body := testBody(d.Loss)
	if d.Body != nil {
		body = Body{Name: "test"}
		for _, m := range d.Body {
			m.Member.Kind = Kind(slices.Index(kindNames, m.Kind))
			body.Members = append(body.Members, m.Member)
		}
	}
	c := Config{
		Body: body, Dimension: d.Dimension, MaxBytes: d.MaxBytes,
		Features: FeatureConfig{Bias: d.Bias == nil || *d.Bias, Norm: d.Norm, Ranges: ranges},
	}
	if c.MaxBytes == 0 {
		c.MaxBytes = 2 << 20
	}
	if c.Features.Norm == "" {
		c.Features.Norm = "unit"
	}
	return c
}

func (d document) value(tb testing.TB) []byte {
	tb.Helper()
	switch {
	case d.Hex != "":
		b, err := hex.DecodeString(d.Hex)
		if err != nil {
			tb.Fatalf("%s: %v", d.Name, err)
		}
		return b
	case d.Repeat != nil:
		return []byte(d.Repeat[0].(string) +
			strings.Repeat(d.Repeat[1].(string), int(d.Repeat[2].(float64))) + d.Repeat[3].(string))
	default:
		return []byte(d.Doc)
	}
}

func readDocuments(tb testing.TB) []document {
	tb.Helper()
	var docs []document
	for _, file := range []string{"documents.jsonl", "members.jsonl"} {
		docs = append(docs, readLines(tb, file)...)
	}
	return docs
}

func readLines(tb testing.TB, file string) (docs []document) {
	tb.Helper()
	b, err := os.ReadFile("../testdata/" + file)
	if err != nil {
		tb.Fatal(err)
	}
	for k, line := range bytes.Split(bytes.TrimSpace(b), []byte("\n")) {
		dec := json.NewDecoder(bytes.NewReader(line))
		dec.DisallowUnknownFields()
		var d document
		if err := dec.Decode(&d); err != nil {
			tb.Fatalf("%s:%d: %v", file, k+1, err)
		}
		docs = append(docs, d)
	}
	return docs
}

func newTestDecoder(tb testing.TB, c Config) *JSONDecoder {
	tb.Helper()
	d, err := NewJSONDecoder(c)
	if err != nil {
		tb.Fatal(err)
	}
	return d
}

func sameEvent(a, b Event) bool {
	u, v := a.Vector, b.Vector
	return (u.Indices == nil) == (v.Indices == nil) && slices.Equal(u.Indices, v.Indices) &&
		sameBits(u.Values, v.Values) &&
		sameBits([]float64{a.Label, a.Weight}, []float64{b.Label, b.Weight}) && sameBits(a.Numbers, b.Numbers)
}

func TestDecodeFollowsTheTableOfDocuments(t *testing.T) {
	docs := readDocuments(t)
	if len(docs) < 60 {
		t.Fatalf("%d documents", len(docs))
	}
	for _, doc := range docs {
		t.Run(doc.Name, func(t *testing.T) {
			d := newTestDecoder(t, doc.config(t))
			want := Event{Vector: Vector{doc.Indices, doc.Values}, Label: doc.Label, Weight: doc.Weight, Numbers: doc.Numbers}
			for range 2 { // the second pass decodes into used buffers
				var got Event
				if code := d.Decode(&got, doc.value(t)); code.String() != doc.Code {
					t.Fatalf("%v, want %v", code, doc.Code)
				} else if code == text.OK && !sameEvent(got, want) {
					t.Fatalf("%+v, want %+v", got, want)
				}
			}
			checkReference(t, doc.config(t), d, doc.value(t))
		})
	}
}

// checkReference fails unless the decoder and its slow reference model agree: both find equal valid events, or the
// model finds the decoder's fault too. If the JSON is invalid, the decoder may find another fault before the syntax
// error.
func checkReference(t *testing.T, c Config, d *JSONDecoder, value []byte) {
	t.Helper()
	var got Event
	code := d.Decode(&got, value)
	want, bad := referenceDecode(c, value)
	switch {
	case (code == text.OK) != (len(bad) == 0), code != text.OK && !bad[code] && !bad[text.JSONSyntax] &&
		!bad[text.LoneSurrogate]:
		t.Fatalf("decoder %v, reference %v", code, bad)
	case code == text.OK && !sameEvent(got, want):
		t.Fatalf("decoder %+v, reference %+v", got, want)
	}
}

func FuzzDecode(f *testing.F) {
	losses := []string{"logistic", "squared", "linear", "portfolio"}
	var configs []Config
	ranges := []Range{{"distance", 0, 5000, false}, {"hour", 0, 24, true}}
	for _, loss := range losses {
		for _, dimension := range []int{1, 2, 5, 16} {
			features := FeatureConfig{Bias: dimension > 2, Norm: "unit", Ranges: ranges}
			configs = append(configs,
				Config{Body: testBody(loss), Dimension: dimension, MaxBytes: 1 << 12, Features: features})
		}
	}
	for k, doc := range readDocuments(f) {
		own := 4*slices.Index(losses, doc.Loss) + doc.Dimension%4
		if c := doc.config(f); doc.Body != nil {
			c.MaxBytes = 1 << 12
			if own = slices.IndexFunc(configs, func(other Config) bool { return reflect.DeepEqual(c, other) }); own < 0 {
				own, configs = len(configs), append(configs, c)
			}
		}
		if value := doc.value(f); len(value) < 1<<12 {
			f.Add(value, uint8(k))
			f.Add(value, uint8(own))
		}
	}
	var decoders []*JSONDecoder
	for _, c := range configs {
		decoders = append(decoders, newTestDecoder(f, c))
	}
	f.Fuzz(func(t *testing.T, value []byte, which uint8) {
		k := int(which) % len(configs)
		checkReference(t, configs[k], decoders[k], value)
	})
}

func TestManyNamesAreCheckedInLinearTime(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"label":1,"features":{"x":1`)
	for k := range 1000000 {
		fmt.Fprintf(&b, `,"n%d":1`, k)
	}
	b.WriteString(`}}`)
	d := newTestDecoder(t, Config{Body: testBody("hinge"), Dimension: 32, MaxBytes: 16 << 20, Features: FeatureConfig{Norm: "unit"}})
	var e Event
	if code := d.Decode(&e, []byte(b.String())); code != text.TooManyNames {
		t.Errorf("a million names: %v", code)
	}

	for n, want := range map[int]text.Code{text.MaxNames: text.OK, text.MaxNames + 1: text.TooManyNames, 17: text.OK} {
		for _, twice := range []bool{false, true} {
			doc := `{"label":1,"features":{"n":0`
			for k := 1; k < n; k++ {
				doc += fmt.Sprintf(`,"n%d":%d`, k, k)
			}
			if twice && want == text.OK {
				doc, want = doc[:strings.LastIndex(doc, ",")]+`,"n":1`, text.DuplicateName
			}
			if code := d.Decode(&e, []byte(doc+`}}`)); code != want {
				t.Errorf("%d names, one twice: %v: %v, want %v", n, twice, code, want)
			}
		}
	}
}

// Documents for benchmarks.
const (
	namedDocument = `{"features":{"carrier":"UA","origin":"EWR","dest":"IAH","hour":17,"month":1,"distance":1400},"label":true}`
	denseDocument = `{"features":[0.12598762514936,-0.98134187263541,1,0.5,-0.33331,12.25,0.000125,17,1400,0.8414709848078965,-0.5403023058681398,` +
		`1,0,0,0,1,0,0.25,0.125,-3.75,0.1,0.2,0.3,0.30000000000000004,2.718281828459045,3.141592653589793,-1.4142135623730951],"label":1}`
)

func benchmarkDecoders(tb testing.TB) map[string]*JSONDecoder {
	features := FeatureConfig{Bias: true, Norm: "unit"}
	return map[string]*JSONDecoder{
		namedDocument: newTestDecoder(tb,
			Config{Body: testBody("logistic"), Dimension: 32, MaxBytes: 1 << 20, Features: features}),
		denseDocument: newTestDecoder(tb,
			Config{Body: testBody("logistic"), Dimension: 27, MaxBytes: 1 << 20, Features: features}),
		playDocument: newTestDecoder(tb, Config{Body: playBody, MaxBytes: 1 << 20}),
	}
}

func TestDecodeAllocatesNothing(t *testing.T) {
	for doc, d := range benchmarkDecoders(t) {
		value := []byte(doc)
		var e Event
		if n := testing.AllocsPerRun(100, func() {
			if d.Decode(&e, value) != text.OK {
				t.Fatal("not valid")
			}
		}); n != 0 {
			t.Errorf("%v allocations for %s", n, doc)
		}
	}
}

func TestEventConfigReportsEveryProblem(t *testing.T) {
	err := Config{Body: Body{Members: []Member{
		{Name: "a", Kind: KindVector}, {Name: "B", Kind: KindNumber},
	}}}.Validate()
	for _, word := range []string{`body ""`, `member "B"`, "dimension", "max bytes"} {
		if err == nil || !strings.Contains(err.Error(), word) {
			t.Errorf("%v: %s is not named", err, word)
		}
	}
	if err := (Config{Body: testBody("hinge"), Dimension: 1, MaxBytes: 1}).Validate(); err == nil {
		t.Error("a body with features without a norm is taken")
	}
	if err := (Config{Body: testBody("linear"), Dimension: 1, MaxBytes: 1}).Validate(); err != nil {
		t.Error(err)
	}
}

// TestUnknownMembersArePassedOver checks that unknown members are skipped if the configuration allows them. The decoder
// must check their grammar, but not their names and contents.
func TestUnknownMembersArePassedOver(t *testing.T) {
	c := Config{
		Body: testBody("logistic"), Dimension: 4, MaxBytes: 1 << 10, Features: FeatureConfig{Norm: "none"}, Unknown: UnknownIsFree,
	}
	d := newTestDecoder(t, c)
	c.Unknown = UnknownIsNull
	strict := newTestDecoder(t, c)
	f := func(value string, want text.Code) {
		t.Helper()
		var e Event
		if got := d.Decode(&e, []byte(value)); got != want {
			t.Errorf("%s: %s, want %s", value, got, want)
		}
		if got := strict.Decode(&e, []byte(value)); got == text.OK {
			t.Errorf("%s: an event", value)
		}
		if n := testing.AllocsPerRun(20, func() { d.Decode(&e, []byte(value)) }); n > 1 { // converting value allocates once
			t.Errorf("%s: %g allocations", value, n)
		}
	}
	f(`{"id":null,"features":{"a":1},"x":{"y":[1,-0.5e+3,"\ud83d\ude00\n",true,{}],"y":1e999},"id":[],"label":1}`, text.OK)
	f(`{"\u0069d":"\"","features":[1,2,3,4],"label":0,"z":[[[[[[[]]]]]]]}`, text.OK)
	f(`{"id":[[[[[[[[]]]]]]]],"features":{"a":1},"label":1}`, text.TooDeep)
	for _, value := range []string{`01`, `1.`, `-`, `1e`, `tru`, `"`, `[1,]`, `{"a"}`, `{"a":1,}`, `{a:1}`, `"\x"`, "\"\n\"", ``} {
		f(`{"id":`+value+`,"features":{"a":1},"label":1}`, text.JSONSyntax)
	}
	f(`{"id":"\ud800","features":{"a":1},"label":1}`, text.LoneSurrogate)
	f(`{"id":1,"features":{"a":1}}`, text.MissingMember)
	f(`{"id":1,"label":1,"features":{"a":1},"label":1}`, text.DuplicateName)
	f(`{"id":1,"label":1,"features":{"indices":[0],"values":[1],"x":1}}`, text.UnknownName)
}
