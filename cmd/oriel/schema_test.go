package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"oriel/cmd/internal/decisiontest"
	"oriel/cmd/internal/servicetest"
	"oriel/cmd/internal/settings"
	"oriel/operators"
	"oriel/schemas/decision"
	"oriel/schemas/event"
	"oriel/schemas/text"
)

var rewriteSchemas = flag.Bool("rewrite", false, "write what schemas publishes")

const (
	schemasFolder  = "../../schemas/jsonschema/"
	examplesFolder = "../../schemas/examples/"
)

// publishedEvents maps each published schema of events to its settings. If the settings name members or allowed values
// (columns, places, types), the schema is valid for these settings only.
func publishedEvents(t *testing.T) map[string][]string {
	t.Helper()
	types := servicetest.WriteFile(t, "types", []byte("family:1:0.25\nstudent:0:0.5\n"))
	return map[string][]string{
		"event-loss": {"LOSS=logistic DIMENSION=4", "LOSS=hinge DIMENSION=4"},
		"event-target": {
			"LOSS=squared DIMENSION=4", "LOSS=absolute DIMENSION=4", "LOSS=quantile DIMENSION=4", "OPERATOR=ridge DIMENSION=4",
		},
		"event-level":     {"LOSS=quantile DIMENSION=1"},
		"event-linear":    {"LOSS=linear DIMENSION=4"},
		"event-portfolio": {"LOSS=portfolio DIMENSION=4"},
		"event-arms":      {"OPERATOR=arms"},
		"event-bandit":    {"OPERATOR=bandit"},
		"event-sets":      {"OPERATOR=sets"},
		"event-linucb": {
			"OPERATOR=linucb PLAYED=logged DIMENSION=4", "OPERATOR=linucb PLAYED=served DIMENSION=4",
			"OPERATOR=linucb PLAYED=served DIMENSION=2 CANDIDATES=2",
		},
		"event-place":  {"OPERATOR=submodular PLACES=" + decisiontest.Path("places")},
		"event-type":   {"OPERATOR=submodular TYPES=" + types},
		"event-values": {"OPERATOR=submodular ELEMENTS=4"},
		"event-aggregate": {
			"OPERATOR=aggregate CELLS=carrier=AA|DL|UA,hour=0:24:24 VALUE=delay=-60:180 STATISTICS=mean WEIGHT_MAX=2",
		},
	}
}

// machineMade lists the example decisions that a real machine makes from a golden case, with the numbers of the lines.
var machineMade = map[string]struct {
	golden string
	line   int
}{
	"decision-sparse.flow":          {"linear-sparse-flow blt", 3},
	"decision.aggregate":            {"aggregate-tumbling once-gaussian", 3},
	"decision.aggregate-shown":      {"aggregate-memory-shown blt", 3},
	"decision.arms":                 {"plays-ucb once-gamma", 2},
	"decision.bandit":               {"plays-ball blt", 2},
	"decision.coco":                 {"logistic blt", 3},
	"decision.linucb-action":        {"contexts-served blt", 2},
	"decision.linucb-model":         {"contexts-served blt", 3},
	"decision.linucb-reward":        {"contexts-candidates-marked tree-gaussian", 2},
	"decision.once":                 {"logistic-ogd once-gamma", 3},
	"decision.ridge":                {"squared-ridge blt", 0},
	"decision.sets-draws":           {"worths-drawn draws", 2},
	"decision.sets-halving":         {"worths-halving once-gamma", 3},
	"decision.submodular-argmax":    {"gains-argmax tree-gaussian", 3},
	"decision.submodular-draws":     {"gains-drawn draws", 3},
	"decision.submodular-histogram": {"sets-places blt", 3},
	"decision.submodular-leaders":   {"gains-led tree-gamma", 3},
	"decision.submodular-shares":    {"gains-shares blt", 3},
}

// kept checks the content of a file. With -rewrite it writes the file.
func kept(t *testing.T, file, content string) {
	t.Helper()
	if *rewriteSchemas {
		if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(file); err != nil || string(got) != content {
		t.Errorf("%s: %v; want\n%s", file, err, content)
	}
}

// prefixed returns settings as an environment with the prefix ORIEL_.
func prefixed(env string) (environ []string) {
	for _, setting := range strings.Fields(env) {
		environ = append(environ, "ORIEL_"+setting)
	}
	return environ
}

// TestSchemasArePublished checks that `oriel schema` prints each published schema of events for its settings.
func TestSchemasArePublished(t *testing.T) {
	for name, envs := range publishedEvents(t) {
		for _, env := range envs {
			schema, err := schemaOf("events", prefixed(env))
			if err != nil {
				t.Fatalf("%s: %v", env, err)
			}
			kept(t, schemasFolder+name+".schema.json", string(schema))
		}
	}
	if _, err := schemaOf("events", nil); err == nil {
		t.Error("events without settings have a schema")
	}
}

func compileSchema(t *testing.T, text []byte) *jsonschema.Schema {
	t.Helper()
	compiler := jsonschema.NewCompiler()
	compiler.DefaultDraft(jsonschema.Draft2020)
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err == nil {
		err = compiler.AddResource("it", doc)
	}
	if err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return compiler.MustCompile("it")
}

func fits(schema *jsonschema.Schema, text []byte) error {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return err
	}
	return schema.Validate(doc)
}

// decode returns the code with which the decoder of the settings accepts or rejects an event.
func decode(t *testing.T, env string, line []byte) text.Code {
	t.Helper()
	s, err := settings.Load(prefixed(env), settings.Events)
	if err != nil {
		t.Fatalf("%s: %v", env, err)
	}
	config := s.EventConfig()
	decoder, err := event.NewJSONDecoder(config)
	if err != nil {
		t.Fatal(err)
	}
	var e event.Event
	return decoder.Decode(&e, line)
}

// TestExamplesAgreeWithSchemaAndDecoder checks the files in schemas/examples. Schema and decoder must both accept the
// files <schema>.<what it shows>.json, and both reject the files invalid/<schema>.<what it shows>.<the rule that an
// event breaks>.json.
func TestExamplesAgreeWithSchemaAndDecoder(t *testing.T) {
	events := publishedEvents(t)
	published, err := filepath.Glob(schemasFolder + "*.schema.json")
	if err != nil || len(published) != len(events)+2 {
		t.Fatalf("%d schemas are published, %v", len(published), err)
	}
	for _, file := range published {
		name := strings.TrimSuffix(filepath.Base(file), ".schema.json")
		s, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		schema := compileSchema(t, s)
		for _, folder := range []string{"", "invalid/"} {
			files, err := filepath.Glob(examplesFolder + folder + name + ".*.json")
			if err != nil || len(files) == 0 {
				t.Errorf("%s%s: no example, %v", folder, name, err)
			}
			for _, file := range files {
				example, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				if err := fits(schema, example); (err == nil) != (folder == "") {
					t.Errorf("%s: the schema says %v", file, err)
				}
				if len(events[name]) == 0 {
					if _, err := decision.Parse(example); (err == nil) != (folder == "") {
						t.Errorf("%s: decision.Parse says %v", file, err)
					}
				}
				want := text.OK.String()
				if folder != "" {
					want = strings.Split(filepath.Base(file), ".")[2]
				}
				for _, env := range events[name] {
					if code := decode(t, env, example); code.String() != want {
						t.Errorf("%s: under %s the decoder says %v", file, env, code)
					}
				}
			}
		}
	}
}

// TestExamplesAreWhole checks that each operator with a golden case has an example of an event and one of a decision.
// Each example must belong to a schema. Each example decision must come from a machine, except the example with members
// that a reader does not know.
func TestExamplesAreWhole(t *testing.T) {
	events, blocks := publishedEvents(t), decisiontest.Blocks(t)
	said := strings.Join(slices.Concat(slices.Collect(maps.Values(events))...), " ") + " OPERATOR=coco"
	of := map[string]string{}
	for _, c := range decisiontest.Cases(t) {
		of[c.String()] = c.Settings.Operator
	}
	decides := map[string]bool{}
	for _, from := range machineMade {
		decides[of[from.golden]] = true
	}
	for name := range maps.Values(of) {
		if !strings.Contains(said, "OPERATOR="+name) || !decides[name] {
			t.Errorf("%s: no example of an event, or of a decision", name)
		}
	}
	for example, from := range machineMade {
		lines := strings.Split(strings.TrimSuffix(blocks[from.golden], "\n"), "\n")
		if len(lines) != 7 {
			t.Fatalf("%s: no golden case %s of four lines", example, from.golden)
		}
		kept(t, examplesFolder+example+".json", lines[3+from.line]+"\n")
	}
	for _, folder := range []string{"", "invalid/"} {
		files, err := filepath.Glob(examplesFolder + folder + "*.json")
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			example := strings.TrimSuffix(filepath.Base(file), ".json")
			schema, _, _ := strings.Cut(example, ".")
			_, made := machineMade[example]
			decision := strings.HasPrefix(schema, "decision") && (made || folder != "" || example == "decision.extras")
			if len(events[schema]) == 0 && !decision {
				t.Errorf("%s: no schema has it, or no machine has made it", file)
			}
		}
	}
}

// TestSchemasTakeWhatIsGolden checks that, under the settings of each golden case, the schema of events accepts every
// event that the decoder accepts, and that the schema of decisions accepts every shown decision.
func TestSchemasTakeWhatIsGolden(t *testing.T) {
	blocks := decisiontest.Blocks(t)
	for _, c := range decisiontest.Cases(t) {
		m := decisiontest.Model(t, c.Settings)
		decoder, err := event.NewJSONDecoder(m.Events)
		if err != nil {
			t.Fatal(err)
		}
		schema := compileSchema(t, event.Schema(m.Events.Body))
		events := decisiontest.Lines(t, c.Events)
		var e event.Event
		taken := 0
		for line := range bytes.Lines(events) {
			if c.Plays() {
				_, line, _ = bytes.Cut(line, []byte("|"))
			}
			if decoder.Decode(&e, line) != text.OK || !json.Valid(line) {
				continue
			}
			taken++
			if err := fits(schema, line); err != nil {
				t.Errorf("%v: %s: %v", c, line, err)
			}
		}
		if taken < 100 {
			t.Errorf("%v: %d events are taken", c, taken)
		}
		operator := m.Learner.Operator()
		schema = compileSchema(t, decision.Schema(operators.FormOf(operator), operator.Extras()))
		for _, line := range slices.Collect(strings.Lines(blocks[c.String()]))[3:] {
			if err := fits(schema, []byte(line)); err != nil {
				t.Errorf("%v: %s: %v", c, line, err)
			}
		}
	}
}
