package settings

import (
	"flag"
	"os"
	"slices"
	"strings"
	"testing"

	"oriel/mechanisms/protection"
)

var rewrite = flag.Bool("rewrite", false, "write the settings table into deploy/SETTINGS.md")

// all is every group of settings.
var all = []Need{Kafka, Deployment, Service, Events, Operator}

// TestTheSettingsTableIsThatOfTheCode checks that deploy/SETTINGS.md is the table that the code generates. With
// -rewrite it updates the file.
func TestTheSettingsTableIsThatOfTheCode(t *testing.T) {
	const path, begin, end = "../../../deploy/SETTINGS.md", "<!-- settings: kept equal to the code by `go test ./cmd/internal/settings` -->\n", "<!-- end of settings -->"
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(b), begin)
	table, after, closed := strings.Cut(rest, end)
	if !ok || !closed {
		t.Fatal("deploy/SETTINGS.md has no place for the settings")
	}
	if table == settingsTable() {
		return
	}
	if !*rewrite {
		t.Fatal("the settings table of deploy/SETTINGS.md differs from the code; run go test ./cmd/internal/settings -rewrite")
	}
	if err := os.WriteFile(path, []byte(before+begin+settingsTable()+end+after), 0o644); err != nil {
		t.Fatal(err)
	}
}

func guarantee(s Settings) (protection.Guarantee, error) {
	return s.Guarantee(s.Model())
}

func minimal() []string {
	return []string{
		"ORIEL_BROKERS=h:1", "ORIEL_NAME=n", "ORIEL_INPUT_TOPIC=i", "ORIEL_START=earliest", "ORIEL_STATE_DIR=d",
		"ORIEL_MASTER_KEY_FILE=k", "ORIEL_OPERATOR=coco", "ORIEL_UPDATE=projection", "ORIEL_LOSS=logistic",
		"ORIEL_SET=l2-ball", "ORIEL_RADIUS=5", "ORIEL_DIMENSION=27", "ORIEL_STRONG_CONVEXITY=0.001",
		"ORIEL_MECHANISM=tree-gaussian", "ORIEL_WINDOW=1024", "ORIEL_EPSILON=1", "ORIEL_DELTA=1e-6", "ORIEL_CLIP=1",
	}
}

// TestMissingRequiredSettingsAreNamed checks that the error names each missing required setting. Thereby it also
// checks that privacy settings have no default.
func TestMissingRequiredSettingsAreNamed(t *testing.T) {
	if _, err := Load(minimal(), all...); err != nil {
		t.Fatal(err)
	}
	for i, line := range minimal() {
		name, _, _ := strings.Cut(line, "=")
		_, err := Load(slices.Delete(minimal(), i, i+1), all...)
		if err == nil || !strings.Contains(err.Error(), name+":") {
			t.Errorf("without %s: %v", name, err)
		}
	}
}

func TestProblemsAreReportedAtOnceEachByItsVariable(t *testing.T) {
	f := func(want string, lines ...string) {
		t.Helper()
		_, err := Load(append(minimal(), lines...), all...)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: want %q, got %v", lines, want, err)
		}
	}
	f("ORIEL_WINDOW: 1000: not a power of two; the next one is 1024", "ORIEL_WINDOW=1000")
	f(`ORIEL_EPSILON: "one": not a number in decimal digits (unit: nats)`, "ORIEL_EPSILON=one")
	f(`ORIEL_EPSILON: "1,5": not a number in decimal digits (unit: nats); with a point it is 1.5`, "ORIEL_EPSILON=1,5")
	f(`ORIEL_CLIP: "0,5": not a number in decimal digits (unit: loss/length); with a point it is 0.5`, "ORIEL_CLIP=0,5")
	f(`ORIEL_EPSILON: "NaN": not a number in decimal digits`, "ORIEL_EPSILON=NaN")
	f("ORIEL_DELTA", "ORIEL_DELTA=0")
	f("ORIEL_ROUNDS: not set", "ORIEL_UPDATE=llo", "ORIEL_SET=simplex")
	f("ORIEL_MEMORY: 134217728: not within 2 to 1048576", "ORIEL_MEMORY=134217728")
	f("ORIEL_MEMORY_LIMIT: 1: not within 83886080 to", "ORIEL_MEMORY_LIMIT=1")
	f("ORIEL_EPSILLON: no such setting", "ORIEL_EPSILLON=1")
	f("ORIEL_USER_SEPARATION: set, but ORIEL_USER_ID", "ORIEL_USER_SEPARATION=5")
	f("ORIEL_USER_SEPARATION: not set", "ORIEL_USER_ID=key")
	f("ORIEL_USER_SEPARATION: separation 200000 times batch 1: above", "ORIEL_USER_ID=key", "ORIEL_USER_SEPARATION=200000")
	f("ORIEL_USER_ID: \"header:\": not key or header:NAME", "ORIEL_USER_ID=header:", "ORIEL_USER_SEPARATION=5")
	f("ORIEL_AGE_WEIGHT: 2: not within", "ORIEL_MECHANISM=blt", "ORIEL_AGE_WEIGHT=2")
	f("ORIEL_AGE_WEIGHT: set, but only", "ORIEL_AGE_WEIGHT=0.3")
	f("ORIEL_POLES: 1: not", "ORIEL_MECHANISM=blt", "ORIEL_POLES=1")
	f("ORIEL_MECHANISM", "ORIEL_MECHANISM=none")
	f("ORIEL_DECISIONS_SCHEMA_ID: set, but decisions in JSON name no schema", "ORIEL_DECISIONS_SCHEMA_ID=7")
	f("ORIEL_DECISIONS_SCHEMA_ID: 2147483648: not within",
		"ORIEL_DECISIONS_FORMAT=avro", "ORIEL_DECISIONS_SCHEMA_ID=2147483648")
	f(`ORIEL_DECISIONS_FORMAT: "xml": not one of json, protobuf, avro`, "ORIEL_DECISIONS_FORMAT=xml")
	_, err := Load(append(minimal(), "ORIEL_CLIP=0", "ORIEL_BATCH=0", "ORIEL_LOSS=canary"), all...)
	for _, name := range []string{"ORIEL_CLIP", "ORIEL_BATCH", "ORIEL_LOSS"} {
		if !strings.Contains(err.Error(), name) {
			t.Errorf("%s is not among the problems: %v", name, err)
		}
	}
}

func TestPureMechanismsAcceptAnyDelta(t *testing.T) {
	for _, delta := range []string{"0", "0.5"} {
		s, err := Load(append(minimal(), "ORIEL_MECHANISM=tree-laplace", "ORIEL_DELTA="+delta), all...)
		if err != nil {
			t.Fatal(err)
		}
		if g, err := guarantee(s); err != nil || g.Delta != 0 {
			t.Errorf("delta %s: guarantee %v, %v", delta, g, err)
		}
	}
}

// TestCanonicalConfiguration is a golden test, because a change of this text makes every deployment a different one.
func TestCanonicalConfiguration(t *testing.T) {
	s, err := Load(minimal(), all...)
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile("testdata/canonical.txt")
	if err != nil {
		t.Fatal(err)
	}
	if got := s.Canonical(); got != string(want) {
		t.Errorf("canonical configuration:\n%s", got)
	}
}

// TestAWholeTopicIsAnotherDeployment checks the line of ORIEL_STREAM in the canonical configuration. Settings of the
// order log must be refused for deployments that write none.
func TestAWholeTopicIsAnotherDeployment(t *testing.T) {
	load := func(lines ...string) Settings {
		t.Helper()
		s, err := Load(append(minimal(), lines...), all...)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	absent, partition, topic := load(), load("ORIEL_STREAM=partition"), load("ORIEL_STREAM=topic")
	if partition.Canonical() != absent.Canonical() {
		t.Error("ORIEL_STREAM=partition is another deployment than one that says nothing")
	}
	if topic.Canonical() != strings.Replace(absent.Canonical(), "STREAM=partition", "STREAM=topic", 1) {
		t.Errorf("canonical configuration:\n%s", topic.Canonical())
	}
	if c := absent.Deployment(); c.WholeTopic() || partition.Deployment().WholeTopic() {
		t.Errorf("%+v", c)
	}
	if c := topic.Deployment(); c.Order != "n.order" || c.OtherSequencer {
		t.Errorf("%+v", c)
	}
	other := load("ORIEL_STREAM=topic", "ORIEL_ORDER_TOPIC=o", "ORIEL_SEQUENCER=other").Deployment()
	if other.Order != "o" || !other.OtherSequencer {
		t.Errorf("%+v", other)
	}
	if c := load("ORIEL_STREAM=topic", "ORIEL_SEQUENCER=own").LettersDeployment(); !c.WholeTopic() || c.OtherSequencer {
		t.Errorf("%+v", c)
	}
	for want, lines := range map[string][]string{
		`ORIEL_STREAM: "key": not one of topic, partition`: {"ORIEL_STREAM=key"},
		`ORIEL_SEQUENCER: "me": not one of own, other`:     {"ORIEL_STREAM=topic", "ORIEL_SEQUENCER=me"},
		// a step of ORIEL_BATCH records cannot hide the presence of a record
		"ORIEL_ADJACENCY: add-remove: with steps of ORIEL_BATCH": {"ORIEL_ADJACENCY=add-remove"},
		"ORIEL_RUNTIME_METRICS: true, but":                       {"ORIEL_RUNTIME_METRICS=true", "ORIEL_METRICS=readers"},
		"ORIEL_SEQUENCER: set, but":                              {"ORIEL_SEQUENCER=other"},
		"ORIEL_ORDER_TOPIC: set, but a stream of one parti":      {"ORIEL_STREAM=partition", "ORIEL_ORDER_TOPIC=o"},
	} {
		if _, err := Load(append(minimal(), lines...), all...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: want %q, got %v", lines, want, err)
		}
	}
}

// TestTopicsFollowTheOperator checks that the names of the topics that only some operators have follow from the
// deployment's name. Such a name must be refused for an operator that has nothing to publish there.
func TestTopicsFollowTheOperator(t *testing.T) {
	portfolio := append(minimal(), "ORIEL_LOSS=portfolio", "ORIEL_SET=simplex")
	plays := ofPlanted("ORIEL_NAME=n", "ORIEL_INPUT_TOPIC=i", "ORIEL_MASTER_KEY_FILE=k")
	for _, c := range []struct {
		environ            []string
		second, descriptor string
		refused            string
	}{
		{environ: plays, second: "n.plays", descriptor: "n.descriptor"},
		{
			environ: append(plays, "ORIEL_SECOND_TOPIC=mine", "ORIEL_DESCRIPTOR_TOPIC=about"),
			second:  "mine", descriptor: "about",
		},
		{environ: minimal(), descriptor: "n.descriptor"}, // of feature vectors
		{environ: append(minimal(), "ORIEL_SECOND_TOPIC=mine"), refused: "ORIEL_SECOND_TOPIC: set, but"},
		{environ: portfolio},
		{environ: append(portfolio, "ORIEL_DESCRIPTOR_TOPIC=mine"), refused: "ORIEL_DESCRIPTOR_TOPIC: set, but"},
	} {
		s, err := LoadOf(both, c.environ, Deployment, Events, Operator)
		if (err == nil) != (c.refused == "") || err != nil && !strings.Contains(err.Error(), c.refused) {
			t.Errorf("%v: %v", c.environ, err)
		}
		if d := s.Deployment(); err == nil && (d.Second != c.second || d.Descriptor != c.descriptor) {
			t.Errorf("%v: %+v", c.environ, d)
		}
	}
}

// TestLettersNeedNoModel checks that the writer of dead letters needs neither the settings of learning nor of privacy,
// and that it never uses the service's consumer group.
func TestLettersNeedNoModel(t *testing.T) {
	environ := []string{
		"ORIEL_BROKERS=localhost:9092", "ORIEL_NAME=late", "ORIEL_INPUT_TOPIC=trips", "ORIEL_MASTER_KEY_FILE=/key",
	}
	s, err := Load(environ, Kafka, Deployment, Letters)
	if err != nil {
		t.Fatal(err)
	}
	if c := s.LettersDeployment(); c.Group != "late.letters" || c.Verdicts != "late.verdicts" ||
		c.DeadLetter != "late.dead-letter" {
		t.Errorf("%+v", c)
	}
	if s.Deployment().Group != "late" {
		t.Errorf("the service's group is %q", s.Deployment().Group)
	}
	for _, more := range []string{
		"ORIEL_LETTERS_GROUP=late", "ORIEL_GROUP=late.letters", "ORIEL_SESSION_TIMEOUT=1ms", "ORIEL_LOG_LEVEL=loud",
	} {
		if _, err := Load(append(environ, more), Kafka, Deployment, Letters); err == nil {
			t.Errorf("%s is accepted", more)
		}
	}
	if _, err := Load(environ[1:], Kafka, Deployment, Letters); err == nil ||
		!strings.Contains(err.Error(), "ORIEL_BROKERS") {
		t.Errorf("without brokers: %v", err)
	}
}
