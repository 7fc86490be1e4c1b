package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"oriel/pipeline/notice"
)

// TestExitCodes: 2 for a wrong call or wrong settings, 1 for what fails while working, 0 for what is done.
func TestExitCodes(t *testing.T) {
	f := offline(t, nil)
	file := write(t, "events.ndjson", append(event(1).Value, '\n'))
	for _, c := range []struct {
		args string
		code int
		says string
	}{
		{"plan", 0, ""},
		{"--help", 0, "Exit codes"},
		{"version", 0, "oriel version "},
		{"plan --help", 0, "compare this LIST of ε in place of ORIEL_EPSILON\n"},
		{"plann", exitUsage, "oriel --help"},
		{"plan --epsilom 1", exitUsage, "`oriel plan --help`"},
		{"plan stray", exitUsage, "`oriel plan --help`"},
		{"plan --rate -1", exitUsage, "--rate"},
		{"tail", exitUsage, "topic"},
		{"replay", exitUsage, "--events"},
		{"replay --events " + file + " --seed 0a", exitUsage, "--seed"},
		{"topics", exitUsage, "ORIEL_BROKERS"},
		{"config", exitUsage, "ORIEL_BROKERS"},
		{"replay --events " + file + ".missing", exitFailure, "no such file"},
		{"plan --env-file " + file + ".missing", exitUsage, "--env-file"},
		{"plan --env-file " + file, exitUsage, "line 1"},
	} {
		p := f.start(nil, strings.Fields(c.args)...)
		p.finish(time.Minute)
		if code := p.cmd.ProcessState.ExitCode(); code != c.code || !strings.Contains(p.output(), c.says) {
			t.Errorf("oriel %s: exit code %d, want %d and %q: %s", c.args, code, c.code, c.says, p.output())
		}
	}
}

// TestReport: each problem on a line of its own, however they were joined, without the package that found it.
func TestReport(t *testing.T) {
	one := &notice.StopError{Partition: -1, Reason: "a is missing", Remedy: "Make it"}
	two := &notice.StopError{Partition: 3, Reason: "b is away", Remedy: "Wait"}
	for _, c := range []struct {
		err  error
		want string
	}{
		{one, "oriel: a is missing. Make it\n"},
		{errors.Join(nil, two), "oriel: partition 3: b is away. Wait\n"},
		{errors.Join(errors.Join(one, two), nil), "oriel: 2 problems\n  a is missing. Make it\n  partition 3: b is away. Wait\n"},
		{fmt.Errorf("while at it: %w", two), "oriel: while at it: pipeline: partition 3: b is away. Wait\n"},
	} {
		var said strings.Builder
		if code := report(&said, c.err); code != exitFailure || said.String() != c.want {
			t.Errorf("code %d, said %q, want %q", code, said.String(), c.want)
		}
	}
}

// TestTwoSignalsAtOnceAreOne: users of timeout(1) and of supervisors that signal a process and its group lost the clean
// end.
func TestTwoSignalsAtOnceAreOne(t *testing.T) {
	f := newFixture(t, 1, nil)
	f.must("topics")
	p := f.start(nil, "run")
	end := time.Now().Add(time.Minute)
	for ; !strings.Contains(p.output(), "state=running"); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the service did not start within a minute")
		}
	}
	for _, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		_ = p.cmd.Process.Signal(s)
		time.Sleep(time.Millisecond) // so that the first one is heard first
	}
	if !p.finish(30*time.Second) || !strings.Contains(p.output(), "the group is left") {
		t.Errorf("ended badly: %v", p.err)
	}
}

// TestMasterKeyIsNeverOverwritten: a second `oriel key` fails, and the key stays; nobody else can read it.
func TestMasterKeyIsNeverOverwritten(t *testing.T) {
	f := &fixture{t: t}
	file := filepath.Join(t.TempDir(), "master.key")
	if said := f.must("key", "--out", file); !strings.Contains(said, "wrote") {
		t.Errorf("said %q", said)
	}
	before, err := os.ReadFile(file)
	if err != nil || len(before) != 65 {
		t.Fatalf("%d bytes, %v", len(before), err)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o400 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	f.fails("never overwritten", "key", "--out", file)
	if after, err := os.ReadFile(file); err != nil || string(after) != string(before) {
		t.Error("the key has changed")
	}
	other := file + "2"
	f.must("key", "--out", other)
	if second, err := os.ReadFile(other); err != nil || string(second) == string(before) {
		t.Error("two keys are equal")
	}
}

// TestSettingsFromAFile: what the environment has counts, the rest comes from the file, and config shows both.
func TestSettingsFromAFile(t *testing.T) {
	f := offline(t, nil)
	var lines []string
	for name, value := range f.env {
		lines = append(lines, name+"="+value)
	}
	file := write(t, "env", []byte("# comment\n\n"+strings.Join(lines, "\n")+"\nORIEL_BROKERS=127.0.0.1:1\nORIEL_NAME=n\nORIEL_INPUT_TOPIC=i\nORIEL_START=earliest\n"+
		"ORIEL_STATE_DIR=/s\nORIEL_MASTER_KEY_FILE=/k\nORIEL_FEATURES_RANGE='a:0:1,b:0:2'\n"))
	f.env = map[string]string{"ORIEL_EPSILON": "2"}
	said := f.prints("config", "--env-file", file)
	for _, want := range []string{
		"ORIEL_EPSILON=2\n", "ORIEL_FEATURES_RANGE=a:0:1,b:0:2\n", "# ORIEL_BATCH=1\n", "epsilon 2,", "window 8",
	} {
		if !strings.Contains(said, want) {
			t.Errorf("%q is not in: %s", want, said)
		}
	}
	f.env = nil
	again := write(t, "again", []byte(said))
	if f.prints("config", "--env-file", again) != said {
		t.Error("what config prints is not what it reads")
	}
	f.fails("line 2: ORIEL_NAME is given twice", "config",
		"--env-file", write(t, "twice", []byte("ORIEL_NAME=a\nORIEL_NAME=b\n")))
	f.fails("ORIEL_NAMES: no such setting", "config", "--env-file", write(t, "unknown", []byte("ORIEL_NAMES=a\n")))
}
