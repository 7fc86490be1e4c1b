package settings

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"oriel/cmd/internal/registry"
	"oriel/mechanisms"
	"oriel/mechanisms/contribution"
	"oriel/operators"
	"oriel/operators/coco"
	"oriel/operators/setting"
	"oriel/schemas/decision"
	"oriel/schemas/event"
)

// planted is an operator for these tests. It has a setting with the name of one of coco's settings, a list, a file, and
// a setting that a later version added.
var planted = operators.Definition{
	Name: "planted", Text: "an operator of a test",
	Settings: []setting.Row{
		{Name: "DIMENSION", Kind: setting.Count, Unit: "entries", Required: true, Decodes: true, Text: "how many"},
		{Name: "BONUS", Kind: setting.Number, Unit: "nats", Required: true, Text: "how much"},
		{Name: "ARMS", Kind: setting.List, Unit: "name,…", Default: "left,right", Text: "which"},
		{Name: "CELLS", Kind: setting.File, Unit: "file", Text: "where"},
		{Name: "NEWER", Kind: setting.Flag, Unit: "bool", Default: "false", Text: "whether"},
	},
	Events: func(v *setting.Values) operators.Events {
		body := event.Body{
			Name: "planted", Text: "an event of a test", Members: []event.Member{{Name: "reward", Kind: event.KindNumber}},
		}
		return operators.Events{Body: body, Dimension: int(v.Count("DIMENSION")), Keyed: true}
	},
	New: func(v *setting.Values) (operators.Operator, error) {
		v.Positive("BONUS", v.Number("BONUS"))
		v.Want("BATCH", v.Batch == 1, "%d: planted takes events one by one", v.Batch)
		entries := append(v.Entries("ARMS"), v.Entries("CELLS")...)
		return plantedOperator{dimension: int(v.Count("DIMENSION")), entries: entries}, v.Err()
	},
}

type plantedOperator struct {
	operators.Operator
	dimension int
	entries   []string
}

func (o plantedOperator) Require(c *mechanisms.Config, _ []byte) error {
	c.Contribution = contribution.OneComponent(o.dimension, 1)
	return nil
}

func (o plantedOperator) Form() decision.Form { return decision.Sparse }

func (o plantedOperator) Extras() []decision.Extra {
	return []decision.Extra{{Name: "arm", Kind: decision.ExtraText}}
}

func (o plantedOperator) SecondTopic() *operators.Output { return &operators.Output{Suffix: "plays"} }

func (o plantedOperator) Descriptor() []byte { return []byte(`{"arms":["left"]}`) }

func (o plantedOperator) Params(mechanisms.Config) ([]byte, error) {
	return []byte(strings.Join(o.entries, "\n")), nil
}

// both is a table with coco and the planted operator.
var both = registry.Table{coco.Definition, planted}

// ofPlanted returns the environment of a deployment of the planted operator.
func ofPlanted(more ...string) []string {
	return append([]string{
		"ORIEL_OPERATOR=planted", "ORIEL_DIMENSION=3", "ORIEL_BONUS=0.5", "ORIEL_MECHANISM=tree-gaussian", "ORIEL_WINDOW=64",
		"ORIEL_EPSILON=1", "ORIEL_DELTA=1e-6",
	}, more...)
}

func loadBoth(environ []string) (Settings, error) { return LoadOf(both, environ, Events, Operator) }

func TestCanonicalConfigurationOfAnotherOperator(t *testing.T) {
	cells := filepath.Join(t.TempDir(), "cells")
	if err := os.WriteFile(cells, []byte("# public\nnorth\n\nsouth\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := loadBoth(ofPlanted("ORIEL_ARMS=up, down", "ORIEL_CELLS="+cells))
	if err != nil {
		t.Fatal(err)
	}
	digest := func(text string) string { return fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(text))) }
	want := strings.Join([]string{
		"ADJACENCY=replace", "AGE_WEIGHT=", "ARMS=" + digest("up\ndown"), "BATCH=1", "BONUS=0.5",
		"CELLS=" + digest("north\nsouth"), "DECISIONS_FORMAT=json", "DECISIONS_SCHEMA_ID=", "DELTA=0.000001",
		"DIMENSION=3", "EPSILON=1", "FEATURES_BIAS=true", "FEATURES_NORM=unit", "FEATURES_RANGE=", "FORMAT=json",
		"FRAMING=", "HORIZON=0", "MAP=", "MAX_RECORD_BYTES=1048576", "MECHANISM=tree-gaussian", "MEMORY=", "NEWER=false",
		"OPERATOR=planted", "POLES=", "SCHEMA=", "SCHEMA_IDS=", "SCHEMA_MESSAGE=", "SCHEMA_SUBJECT=", "STREAM=partition",
		"UNKNOWN=null", "USER_ID=", "USER_SEPARATION=", "USER_WINDOW=", "WINDOW=64", "",
	}, "\n")
	if got := s.Canonical(); got != want {
		t.Errorf("canonical configuration\n%s\nwant\n%s", got, want)
	}
	// The contents of lists and files decide bytes, so their digests follow the mechanism's settings in the frozen
	// plan.
	m := s.Model()
	if plan, err := m.Learner.Params(); err != nil || !strings.HasSuffix(string(plan), "up\ndown\nnorth\nsouth") {
		t.Errorf("plan %q: %v", plan, err)
	}
	operator := m.Learner.Operator()
	if operators.FormOf(operator) != decision.Sparse {
		t.Error("decisions are dense")
	}
	if m.Events.Dimension != 3 || m.Events.Body.Name != "planted" || !m.Keyed {
		t.Errorf("events %+v, keyed %t", m.Events, m.Keyed)
	}
	extras, output, descriptor := operator.Extras(), operators.SecondTopicOf(operator), operators.DescriptorOf(operator)
	if len(extras) != 1 || output == nil || output.Suffix != "plays" || string(descriptor) != `{"arms":["left"]}` {
		t.Errorf("extras %v, output %v, descriptor %s", extras, output, descriptor)
	}
}

// TestSettingsAreThoseOfTheChosenOperator checks that an operator's required settings are required of this operator
// only, and that no operator accepts the settings of another.
func TestSettingsAreThoseOfTheChosenOperator(t *testing.T) {
	f := func(environ []string, want ...string) {
		t.Helper()
		_, err := loadBoth(environ)
		got := strings.Split(fmt.Sprint(err), "\n")
		slices.Sort(got)
		if slices.Sort(want); !slices.Equal(got, want) {
			t.Errorf("problems\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
	f(ofPlanted(), "<nil>")
	f(ofPlanted("ORIEL_BONUS=", "ORIEL_SET=box", "ORIEL_BONNUS=1", "ORIEL_BATCH=4", "ORIEL_ARMS=,", "ORIEL_EPSILON=0",
		"ORIEL_NEWER=perhaps"),
		`ORIEL_ARMS: entry 1: "": not `,
		"ORIEL_BATCH: 4: planted takes events one by one",
		"ORIEL_BONNUS: no such setting; `oriel run --help` lists them",
		"ORIEL_BONUS: not set; how much",
		"ORIEL_EPSILON: 0: not positive",
		`ORIEL_NEWER: "perhaps": not true or false`,
		"ORIEL_SET: not a setting of ORIEL_OPERATOR=planted, but of coco",
	)
	f(append(minimal(), "ORIEL_BONUS=1", "ORIEL_ARMS=a"),
		"ORIEL_ARMS: not a setting of ORIEL_OPERATOR=coco, but of planted",
		"ORIEL_BONUS: not a setting of ORIEL_OPERATOR=coco, but of planted",
	)
	f(ofPlanted("ORIEL_USER_ID=header:user", "ORIEL_USER_SEPARATION=4"),
		"ORIEL_USER_ID: set, but ORIEL_OPERATOR=planted adds answers later than they come: two answers of a user may be added "+
			"closer together than they came")
	f(ofPlanted("ORIEL_OPERATOR=plantain"), `ORIEL_OPERATOR: "plantain": not one of coco, planted`)
}

// TestAProgramThatScoresNamesNoOperator covers a program that only scores events. It must decode as the named operator
// does, or as the first operator of the table, and need no other settings of the operator.
func TestAProgramThatScoresNamesNoOperator(t *testing.T) {
	for _, test := range []struct {
		environ []string
		body    string
	}{
		{[]string{"ORIEL_LOSS=logistic", "ORIEL_DIMENSION=8"}, "loss"},
		{[]string{"ORIEL_OPERATOR=planted", "ORIEL_DIMENSION=8", "ORIEL_CELLS=gone"}, "planted"},
	} {
		s, err := LoadOf(both, test.environ, Events)
		if err != nil {
			t.Fatal(err)
		}
		if c := s.EventConfig(); c.Body.Name != test.body || c.Dimension != 8 {
			t.Errorf("%v: %+v", test.environ, c)
		}
	}
	if _, err := LoadOf(both, []string{"ORIEL_LOSS=logistic"}, Events); err == nil ||
		!strings.Contains(err.Error(), "ORIEL_DIMENSION: not set") {
		t.Errorf("without a dimension: %v", err)
	}
}

// TestEachOperatorHasATableOfItsOwn checks that no operator's table repeats a setting of all operators, or a name that
// is reserved for a later feature.
func TestEachOperatorHasATableOfItsOwn(t *testing.T) {
	text := markdown(groups(both))
	for _, want := range []string{
		"| `ORIEL_OPERATOR` | name | coco, planted | required |",
		"\n**ORIEL_OPERATOR=coco: ", "\n**ORIEL_OPERATOR=planted: an operator of a test**\n\n| setting |",
		"| `ORIEL_BONUS` | nats |  | required | how much |\n", "| `ORIEL_ARMS` | name,… |  | left,right | which |\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the settings table lacks %q:\n%s", want, text)
		}
	}
	taken := map[string]bool{}
	for _, r := range new(Settings).rows() {
		taken[r.name] = true
	}
	for _, f := range registry.All {
		for _, s := range f.Settings {
			if taken[s.Name] {
				t.Errorf("%s: %s%s is not free", f.Name, prefix, s.Name)
			}
		}
	}
}

// TestEmitEvery checks the number of steps from one decision to the next, and 0 for an operator without such a setting.
// It also checks that EmitAll gives the same settings with a decision at each step.
func TestEmitEvery(t *testing.T) {
	for operator, want := range map[string]uint64{
		"aggregate ORIEL_CELLS=a=x|y ORIEL_EMIT_EVERY=7": 7, "aggregate ORIEL_CELLS=a=x|y": 1, "arms ORIEL_ARMS=a,b": 0,
	} {
		mechanism := "blt ORIEL_WINDOW=lifetime ORIEL_MEMORY=64"
		if want == 0 {
			mechanism = "once-gaussian ORIEL_WINDOW=lifetime"
		}
		environ := strings.Fields("ORIEL_EPSILON=1 ORIEL_DELTA=1e-6 ORIEL_OPERATOR=" + operator + " ORIEL_MECHANISM=" +
			mechanism)
		s, err := Load(environ, Events, Operator)
		if err != nil {
			t.Fatal(err)
		}
		if got := s.EmitEvery(); got != want {
			t.Errorf("%s: %d, want %d", operator, got, want)
		}
		if s.EmitAll().Canonical() != s.Canonical() {
			t.Errorf("%s: other settings", operator)
		}
		model := s.EmitAll().Model()
		plan, err := model.Learner.Params()
		if err != nil {
			t.Fatal(err)
		}
		stream, err := model.Learner.Open(plan)
		if err != nil {
			t.Fatal(err)
		}
		machine, err := stream([32]byte{})
		if err != nil {
			t.Fatal(err)
		}
		counted := operators.ByCount(machine)
		if decisions := counted.Add(nil, operators.Record{Null: true}); len(decisions) == 0 {
			t.Errorf("%s: no decision after a step", operator)
		}
	}
}
