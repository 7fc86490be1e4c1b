package decision

import (
	"math"
	"reflect"
	"strings"
	"testing"
)

var (
	testExtras = []Extra{
		{Name: "width", Kind: ExtraNumber},
		{Name: "scores", Kind: ExtraNumbers},
		{Name: "arm", Kind: ExtraText},
		{Name: "names", Kind: ExtraList},
	}
	testValues = []ExtraValue{
		{Number: 0.25},
		{Numbers: []float64{1, -2.5}},
		{Text: "a\"é\n\u2028\x00<\xff"},
		{List: []Entry{{"=A1\"", 300, 1, 1 << 53}, {}}},
	}
)

// goldenExtras pins the bytes that follow the golden decision.
const goldenExtras = `,"width":0.25,"scores":[1,-2.5],"arm":"a\"é\n\u2028\u0000<\ufffd",` + goldenList + `}`

const goldenList = `"names":[{"name":"=A1\"","count":300,"low":1,"high":9007199254740992},` +
	`{"name":"","count":0,"low":0,"high":0}]`

func TestExtrasFollowTheMembersOfAllDecisions(t *testing.T) {
	e, d := NewEncoder(testDecision.Config, testExtras), testDecision
	line := e.Append(nil, d.Index, d.Step, d.Point, testValues)
	if want := strings.TrimSuffix(goldenDecision, "}") + goldenExtras; string(line) != want {
		t.Errorf("%s", line)
	}
	got, err := Parse(line)
	want := []ExtraMember{
		{"width", "0.25"},
		{"scores", "[1,-2.5]"},
		{"arm", `"a\"é\n\u2028\u0000<\ufffd"`},
		{"names", strings.TrimPrefix(goldenList, `"names":`)},
	}
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
		got, err := Parse(line)
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
		NewEncoder(testDecision.Config, extras)
	}
	f(Extra{Kind: ExtraText})
	f(Extra{Name: "Arm", Kind: ExtraText})
	f(Extra{Name: "1st", Kind: ExtraText})
	f(Extra{Name: `a"`, Kind: ExtraText})
	f(Extra{Name: "step", Kind: ExtraText})
	f(Extra{Name: "arm", Kind: ExtraText}, Extra{Name: "arm", Kind: ExtraNumber})
	f(Extra{Name: "arm"})
	f(Extra{Name: "arm", Kind: ExtraList + 1})
}

func TestAppendTakesAllExtrasOrNone(t *testing.T) {
	f := func(values []ExtraValue) {
		t.Helper()
		defer func() {
			if recover() == nil {
				t.Errorf("%+v are taken", values)
			}
		}()
		NewEncoder(testDecision.Config, testExtras).Append(nil, 0, 0, nil, values)
	}
	f(testValues[:2])
	f([]ExtraValue{{Number: math.Inf(1)}, {}, {}, {}})
	f([]ExtraValue{{}, {Numbers: []float64{math.NaN()}}, {}, {}})
}
