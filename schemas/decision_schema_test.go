package schemas

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func TestSchemaTakesEncodedDecisions(t *testing.T) {
	form, golden := Dense, goldenDecision
	f := func(extras []Extra, members string, valid bool) {
		t.Helper()
		line := []byte(strings.TrimSuffix(golden, "}") + members)
		if err := validate(t, compile(t, DecisionSchema(form, extras)), line); (err == nil) != valid {
			t.Errorf("%s: %v", line, err)
		}
	}
	f(nil, `}`, true)
	f(nil, goldenExtras, true)
	f(testExtras, `}`, true)
	f(testExtras, goldenExtras, true)
	f(testExtras, `,"width":"0.25","scores":[1],"arm":"a"}`, false)
	f(testExtras, `,"width":0.25,"scores":["1"],"arm":"a"}`, false)
	f(testExtras, `,"width":0.25,"scores":[1],"arm":0}`, false)
	f(testExtras, `,"width":0.25,"scores":[1]}`, false)
	f(testExtras, `,"arm":"a"}`, false)
	f(testExtras[2:], `,"arm":"a"}`, true)
	golden = goldenSparse
	f(nil, `}`, false)
	form = Sparse
	f(nil, `}`, true)
	f(testExtras, goldenExtras, true)
	f(testExtras, `,"arm":"a"}`, false)
	golden = goldenDecision
	f(nil, `}`, false)
}

func TestSchemaOfDecisionsRequiresTheMembersOfAll(t *testing.T) {
	type schema struct {
		Properties map[string]any
		Required   []string
	}
	for _, extras := range [][]Extra{nil, testExtras} {
		var dense, sparse schema
		for form, s := range map[Form]*schema{Dense: &dense, Sparse: &sparse} {
			if err := json.Unmarshal(DecisionSchema(form, extras), s); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(s.Required, decisionMembers[:]) {
				t.Errorf("%q are required", s.Required)
			}
			if len(s.Properties) != len(decisionMembers)+1+len(extras) { // the common members, time, and the extras
				t.Errorf("%d properties", len(s.Properties))
			}
		}
		for name, text := range dense.Properties {
			if same := reflect.DeepEqual(text, sparse.Properties[name]); same == (name == "decision") {
				t.Errorf("%s of dense and sparse decisions: %v and %v", name, text, sparse.Properties[name])
			}
		}
	}
}
