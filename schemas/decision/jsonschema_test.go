package decision

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

func validate(t *testing.T, schema, line []byte) error {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
	if err != nil {
		t.Fatalf("%v: %s", err, schema)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("it", doc); err != nil {
		t.Fatal(err)
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(line))
	if err != nil {
		t.Fatalf("%v: %s", err, line)
	}
	return compiler.MustCompile("it").Validate(value)
}

func TestSchemaTakesEncodedDecisions(t *testing.T) {
	form, golden := Dense, goldenDecision
	f := func(extras []Extra, members string, valid bool) {
		t.Helper()
		line := []byte(strings.TrimSuffix(golden, "}") + members)
		if err := validate(t, Schema(form, extras), line); (err == nil) != valid {
			t.Errorf("%s: %v", line, err)
		}
	}
	f(nil, `}`, true)
	f(nil, goldenExtras, true)
	f(testExtras, `}`, true)
	f(testExtras, goldenExtras, true)
	f(testExtras, `,"width":0.25,"scores":[1],"arm":"a","names":[]}`, true)
	f(testExtras, `,"width":"0.25","scores":[1],"arm":"a","names":[]}`, false)
	f(testExtras, `,"width":0.25,"scores":["1"],"arm":"a","names":[]}`, false)
	f(testExtras, `,"width":0.25,"scores":[1],"arm":0,"names":[]}`, false)
	f(testExtras, `,"width":0.25,"scores":[1],"arm":"a","names":["a"]}`, false)
	f(testExtras, `,"width":0.25,"scores":[1],"arm":"a","names":[{"name":"a","count":1,"low":1}]}`, false)
	f(testExtras, `,"width":0.25,"scores":[1],"arm":"a","names":[{"name":"a","count":1,"low":-1,"high":1}]}`, false)
	f(testExtras, `,"width":0.25,"scores":[1],"arm":"a"}`, false)
	f(testExtras, `,"arm":"a"}`, false)
	f(testExtras[2:3], `,"arm":"a"}`, true)
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
			if err := json.Unmarshal(Schema(form, extras), s); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(s.Required, decisionMembers[:]) {
				t.Errorf("%q are required", s.Required)
			}
			if len(s.Properties) != len(decisionMembers)+2+len(extras) { // the common members, seconds, time, and the extras
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
