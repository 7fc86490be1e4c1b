package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"oriel/cmd/internal/decisiontest"
	"oriel/cmd/internal/servicetest"
	"oriel/cmd/internal/settings"
	"oriel/cmd/internal/traps"
	"oriel/mechanisms/mechtest/tiertest"
)

// says runs a command to its end, and returns its standard output and its standard error.
func (f *fixture) says(args ...string) (prints, says string) {
	f.T.Helper()
	var out, problems bytes.Buffer
	if servicetest.Within(args) {
		f.Run(&out, &problems, args...)
		return out.String(), problems.String()
	}
	cmd := f.Child(nil, args...)
	if testing.CoverMode() != "" {
		cmd.Env = append(cmd.Env, "GOCOVERDIR="+f.T.TempDir())
	}
	cmd.Stdout, cmd.Stderr = &out, &problems
	if err := cmd.Run(); err != nil {
		var ended *exec.ExitError
		if !errors.As(err, &ended) {
			f.T.Fatal(err)
		}
	}
	return out.String(), problems.String()
}

// prints runs a command, checks that it succeeds, and returns its standard output.
func (f *fixture) prints(args ...string) string {
	f.T.Helper()
	if !servicetest.Within(args) {
		f.Must(args...)
		prints, _ := f.says(args...)
		return prints
	}
	var out, problems bytes.Buffer
	if f.Run(&out, &problems, args...) != 0 {
		f.T.Fatalf("oriel %s failed: %s", strings.Join(args, " "), problems.String())
	}
	return out.String()
}

// warnings returns the warning lines of standard error.
func warnings(said string) (all []string) {
	for line := range strings.Lines(said) {
		if text, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "warning: "); ok {
			all = append(all, text)
		}
	}
	return all
}

// trapped returns events with features under names that are typical mistakes, and the expected warnings.
func trapped(n int) (lines []byte, want []string) {
	for i := range n {
		lines = fmt.Appendf(lines, `{"features":{"amount":%d.5,"user":"u%d","at":"2024-05-01","price":"12.5"},"label":%d}`+"\n",
			i, i, i%2)
	}
	return lines, []string{`: "amount". A large`, `: "price". Each text`, `: "at". A date`, `: "user". Most of them`}
}

// TestOperatorsAreNotOverpaid checks that no golden case and no example in deploy has a component whose noise covers
// much more than events can move. For the examples it runs `oriel plan`. The short form runs each golden operator with
// one mechanism only, and calls plan's check directly for the examples.
func TestOperatorsAreNotOverpaid(t *testing.T) {
	last := ""
	for _, c := range decisiontest.Cases(t) {
		if tiertest.Runs(c.Events == last, false) {
			continue
		}
		last = c.Events
		if got := traps.Overpaid(c.Settings); len(got) > 0 {
			t.Errorf("%v: %q", c, got)
		}
	}
	t.Chdir("../..") // paths in the examples are relative to this folder
	files, err := filepath.Glob("deploy/examples/*.env")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d examples, %v", len(files), err)
	}
	for _, name := range files {
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var environ []string
		for line := range strings.Lines(string(content)) {
			if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
				environ = append(environ, line)
			}
		}
		var said bytes.Buffer
		s, err := settings.Load(environ, settings.Events, settings.Operator)
		if tiertest.Runs(true, false) {
			traps.Warn(&said, traps.Overpaid(s))
		} else {
			err = runPlan(io.Discard, environ, planOptions{problems: &said})
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if strings.Contains(said.String(), "pays for more") {
			t.Errorf("%s: %s", name, said.String())
		}
	}
}

// TestSilentTrapsWarn checks each command for the data's owner: on standard error it must warn about choices that are
// allowed but are usually mistakes. The command must still succeed, and keep warnings out of its standard output. For
// good choices it must not warn.
func TestSilentTrapsWarn(t *testing.T) {
	lines, ofEvents := trapped(64)
	events := servicetest.WriteFile(t, "events.ndjson", lines)
	table := servicetest.WriteFile(t, "events.csv", []byte("amount,label\n7,1\n1400,0\n"))
	ofSettings := []string{
		"ORIEL_EPSILON=1000 is above 20", "ORIEL_WINDOW=8 is below 16",
		"ORIEL_LOSS=squared without ORIEL_START_REGULARIZER",
	}
	unseen := "ORIEL_FEATURES_RANGE is not set"
	bad := offline(t, map[string]string{"ORIEL_EPSILON": "1000", "ORIEL_LOSS": "squared"})
	good := offline(t, map[string]string{"ORIEL_WINDOW": "64", "ORIEL_FEATURES_RANGE": "amount:0:5000"})
	plain := offline(t, map[string]string{"ORIEL_WINDOW": "64"})
	clean := servicetest.WriteFile(t, "clean.ndjson", bytes.Repeat([]byte(`{"features":{"amount":1400,"kind":"a"},"label":1}`+"\n"), 64))
	for _, c := range []struct {
		f    *fixture
		args []string
		want []string
	}{
		{bad, []string{"config"}, append(ofSettings[:3:3], unseen)},
		{bad, []string{"plan"}, append(ofSettings[:3:3], unseen)},
		{bad, []string{"plan", "--json"}, append(ofSettings[:3:3], unseen)},
		{bad, []string{"eval", "--ndjson", events, "--json"}, append(ofSettings[:3:3], ofEvents...)},
		{bad, []string{"eval", "--ndjson", clean, "--epsilon", "1,30", "--window", "64,4"}, []string{
			ofSettings[2], "ORIEL_EPSILON=30 is above 20", "ORIEL_WINDOW=4 is below 16", `: "amount". A large`,
		}},
		{plain, []string{"eval", "--csv", table, "--label", "label", "--feature", "amount:number"}, []string{
			`: "amount". A large`,
		}},
		{good, []string{"config"}, nil},
		{good, []string{"plan"}, nil},
		{good, []string{"eval", "--ndjson", clean}, nil},
	} {
		prints, said := c.f.says(c.args...)
		got := warnings(said)
		if len(got) != len(c.want) {
			t.Fatalf("oriel %s: %d warnings, want %d: %s", strings.Join(c.args, " "), len(got), len(c.want), said)
		}
		for i := range got {
			if !strings.Contains(got[i], c.want[i]) {
				t.Errorf("oriel %s: %q, want %q", strings.Join(c.args, " "), got[i], c.want[i])
			}
		}
		if prints == "" || strings.Contains(prints, "above 20") || strings.Contains(prints, "A large") {
			t.Errorf("oriel %s prints %q", strings.Join(c.args, " "), prints)
		}
	}
}
