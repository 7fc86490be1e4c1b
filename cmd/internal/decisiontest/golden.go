package decisiontest

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"oriel/cmd/internal/registry"
	"oriel/cmd/internal/replay"
	"oriel/cmd/internal/repotest"
	"oriel/cmd/internal/settings"
	"oriel/mechanisms"
	"oriel/operators"
	"oriel/pipeline/kafka/fetch"
	"oriel/pipeline/kafka/records"
	"oriel/pipeline/streams"
	"oriel/schemas/decision"
	"oriel/schemas/text"
	"oriel/state"
)

// Case is a file of events and a mechanism that decides on them.
type Case struct {
	Events, Mechanism string
	Settings          settings.Settings
}

func (c Case) String() string { return c.Events + " " + c.Mechanism }

// Cases returns all golden cases.
func Cases(t *testing.T) (cases []Case) {
	t.Helper()
	for _, events := range Inputs {
		for _, mechanism := range append(mechanisms.Names(), mechanisms.ExponentialMechanism) {
			only := events.Only
			if only != "" && mechanism != only {
				continue
			}
			facts, _ := mechanisms.FactsOf(mechanism)
			if only == "" && (mechanism == mechanisms.ExponentialMechanism || facts.Discrete() ||
				strings.HasPrefix(mechanism, "once-") != (events.Name == "logistic-ogd")) {
				continue // mechanisms of draws need a rule that draws; per-step mechanisms need the update ogd, or distances in ℓ1
			}
			cases = append(cases, Case{events.Name, mechanism, Load(t, Env(mechanism, events.Env)...)})
		}
	}
	return cases
}

// Load returns the settings of a replay; the names in env have no prefix ORIEL_.
func Load(t *testing.T, env ...string) settings.Settings {
	t.Helper()
	return LoadOf(t, registry.All, env...)
}

// LoadOf is like Load, with another table of operators.
func LoadOf(t *testing.T, table registry.Table, env ...string) settings.Settings {
	t.Helper()
	var environ []string
	for _, line := range env {
		environ = append(environ, "ORIEL_"+whole(line))
	}
	s, err := settings.LoadOf(table, environ, settings.Events, settings.Operator)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Model returns the model of the settings.
func Model(t *testing.T, s settings.Settings) streams.Model {
	t.Helper()
	m := s.Model()
	return m
}

// Replay returns the decisions as `oriel replay --events` writes them.
func Replay(t *testing.T, m streams.Model, o replay.Options, events []byte) []byte {
	t.Helper()
	if !m.Clock.Counts() {
		return replayByClock(t, m, o, events)
	}
	stream, err := replay.Open(m, o)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if _, err := replay.Run(t.Context(), &out, bytes.NewReader(events), m, stream, m.Events.MaxBytes, o); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// ByTurns assigns the lines to seven users in turn. Some events of a user come too soon after the user's previous
// event.
func ByTurns(events []byte) []byte {
	var keyed []byte
	for i, line := range bytes.SplitAfter(events, []byte("\n")) {
		if len(line) > 0 {
			keyed = append(fmt.Appendf(keyed, "user %d|", (i-i%5/4)%7), line...)
		}
	}
	return keyed
}

// Block returns the text of the golden file for a case: the frozen plan, the digest of all decisions as JSON, and some
// decisions in full.
func (c Case) Block(t *testing.T, plan []byte, encoding decision.Encoding) string {
	t.Helper()
	m := Model(t, c.Settings)
	m.Learner, m.Encoding = Freeze(m.Learner, plan), encoding
	events := Lines(t, c.Events)
	o := replay.Options{Seed: strings.Repeat("5eed", 16), Partition: 3}
	if c.Settings.UserID != "" {
		o.Separator, events = "|", ByTurns(events)
	}
	if c.Plays() {
		o.Separator = "|"
	}
	out := Replay(t, m, o, events)
	lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	text := fmt.Sprintf("%v\nplan %x\nsha256 %x, %d decisions\n", c, plan, sha256.Sum256(out), len(lines))
	for _, i := range []int{0, 1, len(lines) / 2, len(lines) - 1} {
		text += lines[i] + "\n"
	}
	return text
}

// Plan returns the plan in a block of the golden file. The plan is stored, as in an incarnation, because the functions
// that calibrate a plan may differ in the last bit between platforms.
func Plan(t *testing.T, block string) []byte {
	t.Helper()
	_, rest, _ := strings.Cut(block, "\nplan ")
	text, _, _ := strings.Cut(rest, "\n")
	plan, err := hex.DecodeString(text)
	if err != nil || len(plan) == 0 {
		t.Fatalf("no plan in the block: %q", block)
	}
	return plan
}

// Blocks returns the golden blocks by case.
func Blocks(t *testing.T) map[string]string {
	t.Helper()
	return BlocksOf(t, Path(golden))
}

// BlocksOf returns the golden blocks of a file, by case.
func BlocksOf(t *testing.T, file string) map[string]string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	blocks := map[string]string{}
	for block := range strings.SplitSeq(string(text), "\n\n") {
		block = strings.TrimSuffix(block, "\n") + "\n"
		name, _, _ := strings.Cut(block, "\n")
		blocks[name] = block
	}
	return blocks
}

// golden is the file that holds the blocks of all cases.
const golden = "decisions.txt"

// Path returns the path of a file of testdata.
func Path(name string) string { return repotest.Path("cmd/internal/decisiontest/testdata/" + name) }

// whole makes the path of a file of testdata absolute, if a setting names one.
func whole(line string) string { return strings.Replace(line, "=testdata/", "="+Path("")+"/", 1) }

// Lines returns the events of a case.
func Lines(t *testing.T, name string) []byte {
	t.Helper()
	file, _, _ := strings.Cut(name, "-")
	events, err := os.ReadFile(Path(file + ".ndjson"))
	if err != nil {
		t.Fatal(err)
	}
	return events
}

// Env returns env with the settings that all cases share.
func Env(mechanism string, env []string) []string {
	all := []string{"MECHANISM=" + mechanism, "EPSILON=8", "DELTA=1e-6", "MAX_RECORD_BYTES=2000"}
	if !slices.ContainsFunc(env, func(line string) bool { return strings.HasPrefix(line, "OPERATOR=") }) {
		all = append(all, "OPERATOR=coco", "CLIP=1")
	}
	for _, line := range env {
		all = append(all, whole(line))
	}
	return all
}

// frozen is a learner with parameters that already exist.
type frozen struct {
	streams.Opener
	params []byte
}

// Freeze returns a learner that uses params instead of computing parameters of its own.
func Freeze(learner streams.Opener, params []byte) streams.Opener { return frozen{learner, params} }

func (f frozen) Params() ([]byte, error) { return f.params, nil }

// densely is a learner whose operator does not choose how decisions are printed, so that they are printed densely.
type densely struct{ streams.Opener }

// Densely returns the learner with densely printed decisions.
func Densely(learner streams.Opener) streams.Opener { return densely{learner} }

func (d densely) Operator() operators.Operator {
	return struct{ operators.Operator }{d.Opener.Operator()}
}

// The clock of golden cases: a line is a record of one slot, and the next line is a few seconds later.
const (
	firstSecond = 1_777_777_200
	apart       = 5
)

// replayByClock is Replay for steps by the clock, which a file of events without times cannot replay.
func replayByClock(t *testing.T, m streams.Model, o replay.Options, events []byte) (out []byte) {
	t.Helper()
	m.First = firstSecond
	stream, err := replay.Open(m, o)
	if err != nil {
		t.Fatal(err)
	}
	walk := streams.Walk{
		Stream: stream, Taken: func(*records.Record, int64, text.Code) {},
		Decided: func(_ uint8, _, line []byte) {
			if out, err = decision.AppendLine(out, line); err != nil {
				t.Fatal(err)
			}
			out = append(out, '\n')
		},
		Position: state.Position{
			LeaderEpoch: -1, Step: stream.Base(), Order: &state.Ordered{Clock: true, Slot: firstSecond, LeaderEpoch: -1},
		},
	}
	walk.Start()
	for line, err := range text.NewLines(bytes.NewReader(events), 1<<20).All() {
		if err != nil {
			t.Fatal(err)
		}
		slot := int64(firstSecond + apart*line.Number)
		b := fetch.Batch{From: line.Number, Next: line.Number + 1}
		b.Records = []records.Record{replay.RecordOf(m, line, o.Separator)}
		b.Order = &fetch.Order{Record: line.Number, Slot: slot, Closes: slot + apart - 1, End: b.Next, Done: &fetch.Done{
			Slot: slot + apart, Parts: []fetch.Reach{{Partition: 0, End: b.Next}},
		}}
		if err := walk.Take(&b, func() int64 { return streams.Untaken }); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// Input is the events of a golden case, and the settings of their replay without the prefix ORIEL_.
type Input struct {
	Name string
	Only string // the mechanism, if the case needs a particular one
	Env  []string
}

// Inputs lists the golden cases. Their files of events were generated once and must never change. They contain every
// form of an event, and about every eleventh line is malformed.
var Inputs = inputs()

//go:embed testdata/cases.txt
var caseLines string

func inputs() (all []Input) {
	for line := range strings.Lines(caseLines) {
		switch words := strings.Fields(line); {
		case len(words) == 0 || words[0] == "#":
		case line[0] == '\t':
			last := &all[len(all)-1]
			last.Env = append(last.Env, words...)
		default:
			all = append(all, Input{Name: words[0], Only: strings.Join(words[1:], "")})
		}
	}
	return all
}

// Plays reports whether the case's records name actions in their keys.
func (c Case) Plays() bool {
	kind, _, _ := strings.Cut(c.Events, "-")
	return slices.Contains([]string{"plays", "contexts", "worths"}, kind)
}
