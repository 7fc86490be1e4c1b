package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"oriel/cmd/internal/decisiontest"
	"oriel/cmd/internal/replay"
	"oriel/cmd/internal/servicetest"
)

func TestReplayRefusesBadFlags(t *testing.T) {
	f := offline(t, nil)
	file := servicetest.WriteFile(t, "events.ndjson", servicetest.Event(1).Value)
	for _, seed := range []string{
		"0a", servicetest.Seed[1:], servicetest.Seed + "0a", strings.Repeat("0g", 32), "0x" + servicetest.Seed[2:],
	} {
		f.Fails("--seed", "replay", "--events", file, "--seed", seed)
	}
	f.Fails("--partition", "replay", "--events", file, "--partition", "-1")
	f.Fails("give one of", "replay")
	f.Fails("give one of", "replay", "--check")
	f.Fails("give one of", "replay", "--events", file, "--check", "--from", file)
	f.Fails("seed", "replay", "--seed", servicetest.Seed, "--check", "--from", file)
	f.Fails("no such file", "replay", "--events", file+".missing", "--seed", servicetest.Seed)
	f.Fails("--out", "replay", "--events", file, "--out", file)
	if content, err := os.ReadFile(file); err != nil || !bytes.Equal(content, servicetest.Event(1).Value) {
		t.Errorf("the events are overwritten: %v", err)
	}
	f.Env["ORIEL_EPSILON"] = "0"
	f.Fails("ORIEL_EPSILON", "replay", "--events", file)
	f.Env = map[string]string{}
	for _, line := range clockEnviron() {
		name, value, _ := strings.Cut(line, "=")
		f.Env[name] = value
	}
	f.Fails("ORIEL_STEP is set, and lines of a file have no times", "replay", "--events", file)
}

func TestReplayWritesToAFileWhatItPrints(t *testing.T) {
	f := offline(t, nil)
	var file []byte
	for i := range 20 {
		file = append(append(file, servicetest.Event(i).Value...), '\n')
	}
	in, out := servicetest.WriteFile(t, "events.ndjson", file), filepath.Join(t.TempDir(), "decisions")
	printed := f.Must("replay", "--events", in, "--seed", servicetest.Seed)
	piped := f.Child(nil, "replay", "--events", "-", "--seed", servicetest.Seed)
	piped.Stdin = bytes.NewReader(file)
	if p := f.Launch(piped); !p.Finish(time.Minute) || p.Output() != printed {
		t.Errorf("from standard input: %s", servicetest.EndOf(p.Output()))
	}
	if strings.Count(printed, "\n") != 20 || !strings.HasSuffix(printed, "\n") {
		t.Errorf("%d lines for 20 events", strings.Count(printed, "\n"))
	}
	if said := f.Must(
		"replay", "--events", in, "--seed", strings.ToUpper(servicetest.Seed), "--out", out,
	); said != "lines: 20; null events: 0; decisions: 20\n" {
		t.Errorf("with --out it prints %q", said)
	}
	if written, err := os.ReadFile(out); err != nil || string(written) != printed {
		t.Errorf("the file differs from what is printed: %v", err)
	}
	if help := f.Must("replay", "--help"); strings.Contains(printed, `"time":`) || !strings.Contains(help, "no member time") {
		t.Errorf("help says of times: %s\n%s", help, printed)
	}
}

// TestReplayTakesEachLine checks that an empty line is a record, and that a last line without a line end is one. If a
// line is empty, malformed or too long, the null event takes its place in each case, so that the bytes of the decisions
// are the same.
func TestReplayTakesEachLine(t *testing.T) {
	s := decisiontest.Load(t, "OPERATOR=coco", "UPDATE=projection", "LOSS=logistic", "SET=l2-ball", "RADIUS=5",
		"DIMENSION=6", "STRONG_CONVEXITY=0.01",
		"MECHANISM=tree-gaussian", "WINDOW=8", "EPSILON=1", "DELTA=1e-6", "CLIP=1", "MAX_RECORD_BYTES=100")
	m := decisiontest.Model(t, s)
	run := func(lines string) string {
		return string(decisiontest.Replay(t, m, replay.Options{Seed: servicetest.Seed}, []byte(lines)))
	}
	count := func(name, lines string, want int) {
		t.Helper()
		if got := strings.Count(run(lines), "\n"); got != want {
			t.Errorf("%s: %d decisions, want %d", name, got, want)
		}
	}
	good := string(servicetest.Event(1).Value)
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

// TestReplayKnowsUsers compares a file with user keys with a copy in which each event that comes too soon after another
// of its user is a null event. The decisions must have the same bytes.
func TestReplayKnowsUsers(t *testing.T) {
	f := offline(t, servicetest.ByUser)
	records := servicetest.OfNineUsers(60)
	for i := range records {
		records[i].Headers = servicetest.Event(i).Headers // records of a file have no headers
	}
	nulls := map[int]bool{}
	for _, reason := range servicetest.Expected(records, 5) {
		var at int
		_, _ = fmt.Sscan(reason, &at)
		nulls[at] = true
	}
	var keyed, byHand []byte
	for i, r := range records {
		if r.Key != nil {
			keyed = append(append(keyed, r.Key...), '\t')
		}
		keyed = append(append(keyed, r.Value...), '\n')
		value := r.Value
		if nulls[i] {
			value = []byte("null")
		}
		byHand = append(append(fmt.Appendf(byHand, "%d\t", i), value...), '\n')
	}
	replayed := func(name string, lines []byte) string {
		t.Helper()
		file := servicetest.WriteFile(t, name, lines)
		return f.Must("replay", "--seed", servicetest.Seed, "--events", file, "--key-separator", "\t")
	}
	got, want := replayed("keyed", keyed), replayed("by hand", byHand)
	if got != want || strings.Count(got, "\n") != len(records) {
		t.Error("decisions differ from those with null events made by hand")
	}
	f.Fails("--key-separator", "replay", "--events", servicetest.WriteFile(t, "keyed", keyed))
}

// TestReplayEndsAtTheHorizon checks that the decisions of all steps are written, and that a line after the last step is
// an error.
func TestReplayEndsAtTheHorizon(t *testing.T) {
	f := offline(t, map[string]string{"ORIEL_WINDOW": "horizon", "ORIEL_HORIZON": "10", "ORIEL_BATCH": "2"})
	var file []byte
	for i := range 20 {
		file = append(append(file, servicetest.Event(i).Value...), '\n')
	}
	whole := f.Must("replay", "--events", servicetest.WriteFile(t, "events.ndjson", file), "--seed", servicetest.Seed)
	if n := strings.Count(whole, "\n"); n != 10 || !strings.Contains(whole, `"window":16,`) {
		t.Errorf("%d decisions for 20 events in steps of 2", n)
	}
	out := filepath.Join(t.TempDir(), "decisions")
	more := servicetest.WriteFile(t, "more.ndjson", append(file, "{}\n{}\n"...))
	f.Fails("line 21: the horizon is reached: the stream ends after 10 steps (ORIEL_HORIZON)", "replay", "--events", more, "--seed", servicetest.Seed, "--out", out)
	if written, err := os.ReadFile(out); err != nil || string(written) != whole {
		t.Errorf("the decisions of the steps up to the horizon are not those that are written: %v", err)
	}
}

// TestReplayOfNoEventsFails checks that a replay of a file without any event fails.
func TestReplayOfNoEventsFails(t *testing.T) {
	f := offline(t, nil)
	f.Fails("none of 2 lines is an event; the first is line 1: not_object", "replay", "--events", servicetest.WriteFile(t, "file.csv", []byte("1,2\n3,4\n")), "--out", t.TempDir()+"/out")
	lines := append([]byte("no event\n"), servicetest.Event(1).Value...)
	f.Must("replay", "--events", servicetest.WriteFile(t, "file.ndjson", lines))
	f.Must("replay", "--events", servicetest.WriteFile(t, "empty.ndjson", nil))
}
