package loss

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"oriel/schemas"
)

// bodies are those of all losses, in one dimension and in four.
func bodies() []schemas.Body {
	var all []schemas.Body
	for _, name := range Names() {
		for _, n := range []int{1, 4} {
			body, _ := Body(name, n)
			all = append(all, body)
		}
	}
	return all
}

// TestPublishedSchemasAreThoseOfTheBodies; -rewrite writes them.
func TestPublishedSchemasAreThoseOfTheBodies(t *testing.T) {
	for _, body := range bodies() {
		file := "../../schemas/jsonschema/event-" + body.Name + ".schema.json"
		got := schemas.EventSchema(body)
		if flag.Lookup("rewrite").Value.String() == "true" {
			if err := os.WriteFile(file, got, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if want, err := os.ReadFile(file); err != nil || string(got) != string(want) {
			t.Errorf("%s: %v\n%s", file, err, got)
		}
	}
}

// TestExamplesAreEventsOfTheirBody: schemas/examples/event-<body>.<what it shows>.json is taken, and what stands in
// invalid is not.
func TestExamplesAreEventsOfTheirBody(t *testing.T) {
	for _, body := range bodies() {
		d, err := schemas.NewDecoder(schemas.EventConfig{
			Body: body, Dimension: 4, MaxBytes: 1 << 12, Features: schemas.FeatureConfig{Norm: "unit"},
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, folder := range []string{"", "invalid/"} {
			files, err := filepath.Glob("../../schemas/examples/" + folder + "event-" + body.Name + ".*.json")
			if err != nil || len(files) == 0 {
				t.Fatalf("%sevent-%s: no example, %v", folder, body.Name, err)
			}
			for _, file := range files {
				value, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				var e schemas.Event
				if code := d.Decode(&e, value); (code == schemas.OK) != (folder == "") {
					t.Errorf("%s: %v", file, code)
				}
			}
		}
	}
}
