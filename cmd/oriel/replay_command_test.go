package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// offline is the command with the settings of a replay and no broker.
func offline(t *testing.T, more map[string]string) *fixture {
	t.Helper()
	env := map[string]string{
		"ORIEL_OPERATOR": "coco", "ORIEL_UPDATE": "projection", "ORIEL_LOSS": "logistic", "ORIEL_SET": "l2-ball",
		"ORIEL_RADIUS": "5", "ORIEL_DIMENSION": "6", "ORIEL_STRONG_CONVEXITY": "0.01", "ORIEL_MECHANISM": "tree-gaussian",
		"ORIEL_WINDOW": "8", "ORIEL_EPSILON": "1", "ORIEL_DELTA": "1e-6", "ORIEL_CLIP": "1",
	}
	for k, v := range more {
		env[k] = v
	}
	return &fixture{t: t, env: env}
}

func write(t *testing.T, name string, content []byte) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// fails runs a command to its bad end and checks what it says.
func (f *fixture) fails(want string, args ...string) {
	f.t.Helper()
	p := f.start(nil, args...)
	if p.finish(time.Minute) || !strings.Contains(p.output(), want) {
		f.t.Errorf("oriel %s: want a failure that says %q; it said: %s", strings.Join(args, " "), want, p.output())
	}
}

var seedText = strings.Repeat("0a", 32)

func TestReplayRefusesBadFlags(t *testing.T) {
	f := offline(t, nil)
	file := write(t, "events.ndjson", event(1).Value)
	for _, seed := range []string{"0a", seedText[1:], seedText + "0a", strings.Repeat("0g", 32), "0x" + seedText[2:]} {
		f.fails("--seed", "replay", "--events", file, "--seed", seed)
	}
	f.fails("--partition", "replay", "--events", file, "--partition", "-1")
	f.fails("give one of", "replay")
	f.fails("give one of", "replay", "--check")
	f.fails("give one of", "replay", "--events", file, "--check", "--from", file)
	f.fails("seed", "replay", "--seed", seedText, "--check", "--from", file)
	f.fails("no such file", "replay", "--events", file+".missing", "--seed", seedText)
	f.fails("--out", "replay", "--events", file, "--out", file)
	if content, err := os.ReadFile(file); err != nil || !bytes.Equal(content, event(1).Value) {
		t.Errorf("the events are overwritten: %v", err)
	}
	f.env["ORIEL_EPSILON"] = "0"
	f.fails("ORIEL_EPSILON", "replay", "--events", file)
}

func TestReplayWritesToAFileWhatItPrints(t *testing.T) {
	f := offline(t, nil)
	var file []byte
	for i := range 20 {
		file = append(append(file, event(i).Value...), '\n')
	}
	in, out := write(t, "events.ndjson", file), filepath.Join(t.TempDir(), "decisions")
	printed := f.must("replay", "--events", in, "--seed", seedText)
	piped := f.child(nil, "replay", "--events", "-", "--seed", seedText)
	piped.Stdin = bytes.NewReader(file)
	if p := f.launch(piped); !p.finish(time.Minute) || p.output() != printed {
		t.Errorf("from standard input: %s", tailOf(p.output()))
	}
	if strings.Count(printed, "\n") != 20 || !strings.HasSuffix(printed, "\n") {
		t.Errorf("%d lines for 20 events", strings.Count(printed, "\n"))
	}
	if said := f.must(
		"replay", "--events", in, "--seed", strings.ToUpper(seedText), "--out", out,
	); said != "lines: 20; null events: 0; decisions: 20\n" {
		t.Errorf("with --out it prints %q", said)
	}
	if written, err := os.ReadFile(out); err != nil || string(written) != printed {
		t.Errorf("the file differs from what is printed: %v", err)
	}
}

// TestReplayTakesEachLine: an empty line and a last line without its end are a record each; an empty, a malformed and a
// too long line are the null event, in the same place with the same bytes.
func TestReplayTakesEachLine(t *testing.T) {
	s := load(t, "OPERATOR=coco", "UPDATE=projection", "LOSS=logistic", "SET=l2-ball", "RADIUS=5", "DIMENSION=6",
		"STRONG_CONVEXITY=0.01",
		"MECHANISM=tree-gaussian", "WINDOW=8", "EPSILON=1", "DELTA=1e-6", "CLIP=1", "MAX_RECORD_BYTES=100")
	m := model(t, s)
	run := func(lines string) string { return string(replayOf(t, m, replayOptions{seed: seedText}, []byte(lines))) }
	count := func(name, lines string, want int) {
		t.Helper()
		if got := strings.Count(run(lines), "\n"); got != want {
			t.Errorf("%s: %d decisions, want %d", name, got, want)
		}
	}
	good := string(event(1).Value)
	count("nothing", "", 0)
	count("one empty line", "\n", 1)
	count("a line without end", good, 1)
	count("a line", good+"\n", 1)
	count("empty lines between, no end", good+"\n\n\n"+good, 4)
	fit := good + strings.Repeat(" ", 100-len(good))
	null := run(good + "\n\n" + good)
	for name, line := range map[string]string{
		"malformed": "{", "one byte too long": fit + " ", "far too long": strings.Repeat(fit, 5000), "carriage return": "\r",
	} {
		if run(good+"\n"+line+"\n"+good) != null {
			t.Errorf("%s: not the null event", name)
		}
	}
	if run(good+"\n"+fit+"\n"+good) != run(good+"\n"+good+"\n"+good+"\n") {
		t.Error("a line as long as allowed is not the event that it holds")
	}
}

// TestFeaturesAreWhatIsLearned: events and the vectors that `oriel features` prints for them give the same decisions.
func TestFeaturesAreWhatIsLearned(t *testing.T) {
	f := offline(t, map[string]string{"ORIEL_FEATURES_RANGE": "hour:0:24:cyclic"})
	var named []byte
	for i := range 30 {
		named = append(append(named, event(i).Value...), '\n')
	}
	lines := strings.SplitAfter(f.must("features", write(t, "events.ndjson", named)), "\n")
	if len(lines) != 31 {
		t.Fatalf("%d lines of features for 30 events", len(lines)-1)
	}
	var vectors strings.Builder
	for _, line := range lines[:30] { // {"indices":[…],"values":[…],"label":…} or {"values":[…],"label":…}
		vector, label, _ := strings.Cut(line, `,"label":`)
		if dense, found := strings.CutPrefix(vector, `{"values":`); found {
			vector = dense
		} else {
			vector += "}"
		}
		vectors.WriteString(`{"features":` + vector + `,"label":` + label)
	}
	replay := func(file string) string {
		t.Helper()
		return f.must("replay", "--seed", seedText, "--events", write(t, "file.ndjson", []byte(file)))
	}
	if replay(vectors.String()) != replay(string(named)) {
		t.Error("the decisions of events and of their vectors differ")
	}
}
