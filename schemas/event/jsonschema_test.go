package event

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"oriel/schemas/text"
)

func compileSchemas(t *testing.T) map[string]*jsonschema.Schema {
	t.Helper()
	compiler := jsonschema.NewCompiler()
	compiler.DefaultDraft(jsonschema.Draft2020)
	published := os.DirFS("../jsonschema")
	files, err := fs.Glob(published, "*.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	schemas := map[string]*jsonschema.Schema{}
	for _, file := range files {
		b, err := fs.ReadFile(published, file)
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

// schemaLoss maps each published schema of events to its loss.
var schemaLoss = map[string]string{
	"event-loss": "logistic", "event-target": "squared", "event-level": "threshold", "event-linear": "linear",
	"event-portfolio": "portfolio",
}

// TestSchemasTakeEveryValidDocument checks that a schema accepts every document that the decoder accepts. A schema may
// also accept invalid documents.
func TestSchemasTakeEveryValidDocument(t *testing.T) {
	schemas := compileSchemas(t)
	for _, doc := range readDocuments(t) {
		if doc.Code != text.OK.String() || doc.Repeat != nil || doc.Body != nil {
			continue
		}
		name, found := "", false
		for n, loss := range schemaLoss {
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

// compile compiles a generated schema.
func compile(t *testing.T, text []byte) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	compiler := jsonschema.NewCompiler()
	compiler.DefaultDraft(jsonschema.Draft2020)
	if err := compiler.AddResource("made", doc); err != nil {
		t.Fatal(err)
	}
	schema, err := compiler.Compile("made")
	if err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return schema
}

func validate(t *testing.T, schema *jsonschema.Schema, doc []byte) error {
	t.Helper()
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(doc))
	if err != nil {
		t.Fatalf("%v: %s", err, doc)
	}
	return schema.Validate(value)
}

// TestSchemaOfABodyAcceptsWhatItsDecoderAccepts checks that the schema of a body accepts every valid document, and
// rejects every fault that JSON Schema can express.
func TestSchemaOfABodyAcceptsWhatItsDecoderAccepts(t *testing.T) {
	said := map[text.Code]int{
		text.UnknownChoice: 0, text.NumberRange: 0, text.UnknownName: 0, text.NullValue: 0,
		text.MissingMember: 0, text.ConflictingMembers: 0, text.NotObject: 0,
	}
	for _, doc := range readDocuments(t) {
		value := doc.value(t)
		if !json.Valid(value) || doc.Repeat != nil {
			continue
		}
		err := validate(t, compile(t, Schema(doc.config(t).Body)), value)
		for code := range said {
			if doc.Code == code.String() {
				said[code]++
				if err == nil {
					t.Errorf("%s: the schema takes it", doc.Name)
				}
			}
		}
		if doc.Code == text.OK.String() && err != nil {
			t.Errorf("%s: %v", doc.Name, err)
		}
	}
	for code, n := range said {
		if n == 0 {
			t.Errorf("no document breaks %v", code)
		}
	}
}

func TestSchemaOfABody(t *testing.T) {
	got := string(Schema(Body{Name: "two_part", Text: "A \"play\".", Members: []Member{
		{Name: "arm", Kind: KindChoice, Choices: []string{"a", "b\\"}, Optional: true, Default: 1, Text: "Which."},
		{Name: "reward", Also: "gain", Kind: KindNumber, Least: -0.5, Most: 1, Optional: true, Default: -0.25},
		{Name: "tries", Also: "pulls", Kind: KindCount, Optional: true, Default: -1e300},
		{Name: "cost", Also: "price", Kind: KindTarget},
		{Name: "brought", Kind: KindNumber, Optional: true, Default: -math.MaxFloat64},
		{Name: "weight", Kind: KindWeight},
		{Name: "word", Kind: KindName, Optional: true},
	}}))
	const want = `{
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "$id": "urn:oriel:schemas:v1:event-two_part",
  "title": "Two part event",
  "description": "A \"play\".",
  "type": "object",
  "properties": {
    "arm": { "description": "Which.", "enum": ["a", "b\\"], "default": "b\\" },
    "reward": { "type": "number", "minimum": -0.5, "maximum": 1, "default": -0.25 },
    "gain": { "type": "number", "minimum": -0.5, "maximum": 1, "default": -0.25 },
    "tries": { "type": "integer", "minimum": -9007199254740992, "maximum": 9007199254740992 },
    "pulls": { "type": "integer", "minimum": -9007199254740992, "maximum": 9007199254740992 },
    "cost": { "type": "number" },
    "price": { "type": "number" },
    "brought": { "type": "number" },
    "weight": { "type": "number", "minimum": 0 },
    "word": { "type": "string", "minLength": 1 }
  },
  "required": ["weight"],
  "allOf": [{ "not": { "required": ["reward", "gain"] } }, { "not": { "required": ["tries", "pulls"] } }, ` +
		`{ "oneOf": [{ "required": ["cost"] }, { "required": ["price"] }] }],
  "additionalProperties": false
}
`
	if got != want {
		t.Errorf("%s", got)
	}
	compile(t, []byte(got))
}
