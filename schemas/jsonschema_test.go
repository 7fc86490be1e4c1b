package schemas

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

func compileSchemas(t *testing.T) map[string]*jsonschema.Schema {
	t.Helper()
	compiler := jsonschema.NewCompiler()
	compiler.DefaultDraft(jsonschema.Draft2020)
	files, err := fs.Glob(JSONSchemas(), "*.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	schemas := map[string]*jsonschema.Schema{}
	for _, file := range files {
		b, err := fs.ReadFile(JSONSchemas(), file)
		if err != nil {
			t.Fatal(err)
		}
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(b))
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		name := strings.TrimSuffix(file, ".schema.json")
		if id := doc.(map[string]any)["$id"]; id != "urn:oriel:schemas:v1:"+name {
			t.Errorf("%s has the id %v", file, id)
		}
		if err := compiler.AddResource(file, doc); err != nil {
			t.Fatal(err)
		}
		if schemas[name], err = compiler.Compile(file); err != nil {
			t.Fatal(err)
		}
	}
	return schemas
}

// exampleLoss is the loss whose decoder takes the examples of a schema.
var exampleLoss = map[string]string{"event-loss": "logistic", "event-linear": "linear", "event-portfolio": "portfolio"}

// TestExamplesAgreeWithSchemaAndDecoder takes examples/<schema>.<what it shows>.json; those in examples/invalid must fail both.
func TestExamplesAgreeWithSchemaAndDecoder(t *testing.T) {
	schemas := compileSchemas(t)
	seen := map[string]bool{}
	for _, pattern := range []string{"examples/*.json", "examples/invalid/*.json"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		valid := !strings.Contains(pattern, "invalid")
		for _, file := range files {
			name, _, _ := strings.Cut(filepath.Base(file), ".")
			schema := schemas[name]
			if schema == nil {
				t.Fatalf("%s: no such schema", file)
			}
			if valid {
				seen[name] = true
			}
			b, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(b))
			if err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			if err := schema.Validate(doc); (err == nil) != valid {
				t.Errorf("%s: the schema says %v", file, err)
			}
			if name == "decision" {
				if _, err := ParseDecision(b); (err == nil) != valid {
					t.Errorf("%s: ParseDecision says %v", file, err)
				}
				continue
			}
			d := newTestDecoder(t, EventConfig{Loss: exampleLoss[name], Dimension: 4, MaxBytes: 1 << 12, Features: FeatureConfig{Bias: true, Norm: "unit"}})
			var e Event
			if code := d.Decode(&e, b); (code == OK) != valid {
				t.Errorf("%s: the decoder says %v", file, code)
			}
		}
	}
	for name := range schemas {
		if !seen[name] {
			t.Errorf("schema %s has no example", name)
		}
	}
}

// TestSchemasTakeEveryValidDocument: a schema may miss faults, but it refuses nothing that the decoder takes.
func TestSchemasTakeEveryValidDocument(t *testing.T) {
	schemas := compileSchemas(t)
	for _, doc := range readDocuments(t) {
		if doc.Code != OK.String() || doc.Repeat != nil {
			continue
		}
		name, found := "", false
		for n, loss := range exampleLoss {
			if doc.Loss == loss {
				name, found = n, true
			}
		}
		if !found {
			name = "event-loss"
		}
		value, err := jsonschema.UnmarshalJSON(bytes.NewReader(doc.value(t)))
		if err != nil {
			t.Fatalf("%s: %v", doc.Name, err)
		}
		if err := schemas[name].Validate(value); err != nil {
			t.Errorf("%s: %v", doc.Name, err)
		}
	}
}

func TestSchemaTakesEncodedDecisions(t *testing.T) {
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(goldenDecision))
	if err != nil {
		t.Fatal(err)
	}
	if err := compileSchemas(t)["decision"].Validate(value); err != nil {
		t.Error(err)
	}
}
