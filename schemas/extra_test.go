package schemas

import (
	"bytes"
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"
)

var (
	testExtras = []Extra{
		{Name: "width", Kind: ExtraNumber}, {Name: "scores", Kind: ExtraNumbers}, {Name: "arm", Kind: ExtraText},
	}
	testValues = []ExtraValue{{Number: 0.25}, {Numbers: []float64{1, -2.5}}, {Text: "a\"é\n\u2028\x00<\xff"}}
)

// goldenExtras pins the bytes that follow the golden decision.
const goldenExtras = `,"width":0.25,"scores":[1,-2.5],"arm":"a\"é\n\u2028\u0000<\ufffd"}`

func TestExtrasFollowTheMembersOfAllDecisions(t *testing.T) {
	e, d := NewEncoder(testDecision.DecisionConfig, testExtras), testDecision
	line := e.Append(nil, d.Index, d.Step, d.Point, testValues)
	if want := strings.TrimSuffix(goldenDecision, "}") + goldenExtras; string(line) != want {
		t.Errorf("%s", line)
	}
	got, err := ParseDecision(line)
	want := []ExtraMember{{"width", "0.25"}, {"scores", "[1,-2.5]"}, {"arm", `"a\"é\n\u2028\u0000<\ufffd"`}}
	if err != nil || !reflect.DeepEqual(got.Extras, want) {
		t.Errorf("%v: %q", err, got.Extras)
	}
	if line := e.Append(nil, d.Index, d.Step, d.Point, nil); string(line) != goldenDecision {
		t.Errorf("without extras: %s", line)
	}
}

// TestParseDecisionPassesOverUnknownMembers checks that unknown members are ignored, as the published schema promises.
func TestParseDecisionPassesOverUnknownMembers(t *testing.T) {
	f := func(members string, want ...ExtraMember) {
		t.Helper()
		line := []byte(strings.TrimSuffix(goldenDecision, "}") + members + "}\n")
		got, err := ParseDecision(line)
		if err != nil {
			t.Errorf("%s: %v", members, err)
			return
		}
		if !reflect.DeepEqual(got.Extras, want) {
			t.Errorf("%s: %q", members, got.Extras)
		}
		clear(line)
		got.Extras = nil
		if !reflect.DeepEqual(got, testDecision) {
			t.Errorf("%s: %+v", members, got)
		}
	}
	f(``)
	f(`,"x":1`, ExtraMember{"x", "1"})
	f(`,"x":-1e999`, ExtraMember{"x", "-1e999"})
	f(`,"x":null,"y":true,"z":false`, ExtraMember{"x", "null"}, ExtraMember{"y", "true"}, ExtraMember{"z", "false"})
	f(`,"\u0041é b":"c,}\n"`, ExtraMember{"Aé b", `"c,}\n"`})
	f(`,"x":[],"y":{}`, ExtraMember{"x", "[]"}, ExtraMember{"y", "{}"})
	f(`,"x":{ "a" : [ 1 , "b" ] , "a" : null }`, ExtraMember{"x", `{ "a" : [ 1 , "b" ] , "a" : null }`})
	deep := strings.Repeat("[", 7) + strings.Repeat("]", 7)
	f(`,"x":`+deep, ExtraMember{"x", deep})
}

func TestNewEncoderRefusesExtras(t *testing.T) {
	f := func(extras ...Extra) {
		t.Helper()
		defer func() {
			if recover() == nil {
				t.Errorf("%+v are taken", extras)
			}
		}()
		NewEncoder(testDecision.DecisionConfig, extras)
	}
	f(Extra{Kind: ExtraText})
	f(Extra{Name: "Arm", Kind: ExtraText})
	f(Extra{Name: "1st", Kind: ExtraText})
	f(Extra{Name: `a"`, Kind: ExtraText})
	f(Extra{Name: "step", Kind: ExtraText})
	f(Extra{Name: "arm", Kind: ExtraText}, Extra{Name: "arm", Kind: ExtraNumber})
	f(Extra{Name: "arm"})
	f(Extra{Name: "arm", Kind: ExtraText + 1})
}

func TestAppendTakesAllExtrasOrNone(t *testing.T) {
	f := func(values []ExtraValue) {
		t.Helper()
		defer func() {
			if recover() == nil {
				t.Errorf("%+v are taken", values)
			}
		}()
		NewEncoder(testDecision.DecisionConfig, testExtras).Append(nil, 0, 0, nil, values)
	}
	f(testValues[:2])
	f([]ExtraValue{{Number: math.Inf(1)}, {}, {}})
	f([]ExtraValue{{}, {Numbers: []float64{math.NaN()}}, {}})
}

// FuzzAppendString compares AppendString with encoding/json, byte for byte.
func FuzzAppendString(f *testing.F) {
	for _, s := range []string{
		"", "a<b>&\"\\", "\x00\x07\b\t\n\v\f\r\x1f\x7f", "\u2028\u2029\u2027", "\xff\xef\xbf\uFFFD", "é𝄞",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var want bytes.Buffer
		enc := json.NewEncoder(&want)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(s); err != nil {
			t.Fatal(err)
		}
		if got := string(AppendString(nil, s)) + "\n"; got != want.String() {
			t.Errorf("%s, want %s", got, want.String())
		}
	})
}

// FuzzSkipValue checks that SkipValue accepts the texts that encoding/json accepts.
func FuzzSkipValue(f *testing.F) {
	for _, s := range []string{`1`, `-`, `"a"`, `[1,[2]]`, `{"a":{}}`, `{"a":1,}`, `[`, ` 1`, `nul`, `"\ud800"`, `1e999`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		next, ok := skipValue(doc, 0, 1)
		if ok && !json.Valid(doc[:next]) {
			t.Errorf("%q is taken", doc[:next])
		}
		if !ok && json.Valid(doc) && !bytes.ContainsAny(doc[:1], " \t\r\n") && bytes.Count(doc, []byte("[")) <= 2 &&
			!bytes.Contains(doc, []byte("{")) && !bytes.Contains(doc, []byte(`\u`)) {
			t.Errorf("%q is refused", doc)
		}
	})
}
