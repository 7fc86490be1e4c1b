package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"oriel/cmd/internal/servicetest"
	"oriel/mechanisms/audit"
	"oriel/mechanisms/mechtest/tiertest"
)

// auditEnv returns a small deployment at ε = 20. Its µ is 3.2; some thousand runs bound it to within a tenth.
func auditEnv(more ...string) []string {
	return append([]string{
		"ORIEL_OPERATOR=coco", "ORIEL_UPDATE=projection", "ORIEL_LOSS=logistic", "ORIEL_SET=l2-ball", "ORIEL_RADIUS=5",
		"ORIEL_DIMENSION=4", "ORIEL_STRONG_CONVEXITY=0.01", "ORIEL_MECHANISM=blt", "ORIEL_WINDOW=8", "ORIEL_EPSILON=20",
		"ORIEL_DELTA=1e-6", "ORIEL_CLIP=1.5",
	}, more...)
}

// runAuditCommand runs `oriel audit` in this process.
func runAuditCommand(t *testing.T, args ...string) (string, error) {
	t.Helper()
	for _, line := range os.Environ() { // removes settings in the environment of the test
		if name, _, _ := strings.Cut(line, "="); strings.HasPrefix(name, "ORIEL_") {
			t.Setenv(name, "") // Setenv makes the test framework restore the variable at the end
			_ = os.Unsetenv(name)
		}
	}
	for _, line := range auditEnv() {
		name, value, _ := strings.Cut(line, "=")
		t.Setenv(name, value)
	}
	cmd := auditCommand()
	var out bytes.Buffer
	cmd.SetOut(&out)
	cmd.SetErr(io.Discard)
	cmd.SilenceUsage = true
	cmd.SetArgs(args)
	err := cmd.ExecuteContext(t.Context())
	return out.String(), err
}

type auditJSON struct {
	Mechanism string
	Attacks   []struct {
		Runs   int
		Reach  float64
		Bounds []audit.Bound
	}
	Verdict string
}

// TestAuditCommand checks that the audit of a correct machine bounds a share of the claim and does not exceed it: in
// words, in JSON, and in the scores that other auditors read. The same seed must repeat every figure. The share is what
// the runs bound with probability 0.999 (see enough in mechanisms/audit), where 3 306 runs bound 0.9 on average and one
// standard deviation more.
func TestAuditCommand(t *testing.T) {
	file := filepath.Join(t.TempDir(), "scores.csv")
	runs, share := tiertest.Runs(700, 7000), tiertest.Runs(0.68, 0.9)
	args := []string{"--runs", strconv.Itoa(runs), "--seed", servicetest.Seed, "--position", "3"}
	text, err := runAuditCommand(t, append(args, "--scores", file)...)
	if err != nil || !strings.HasSuffix(text, "\nNot refuted.\n") || !strings.Contains(text, "comes to 0.") ||
		!strings.Contains(text, "contribution moves by 2.42592 of 2.42592") {
		t.Fatalf("%v: %s", err, text)
	}
	document, err := runAuditCommand(t, append(args, "--json")...)
	var got auditJSON
	if err = errors.Join(err, json.Unmarshal([]byte(document), &got)); err != nil {
		t.Fatal(err)
	}
	first := got.Attacks[0].Bounds[0]
	if got.Mechanism != "blt" || len(got.Attacks) != 1 || got.Attacks[0].Runs != runs || got.Verdict != "not refuted" || first.Value < share*first.Claim || first.Value > first.Claim {
		t.Errorf("%+v", got)
	}
	if want := fmt.Sprintf("%.3f  %d of %d", first.Value/first.Claim, first.Right, runs); !strings.Contains(strings.Join(strings.Fields(text), "  "), strings.Join(strings.Fields(want), "  ")) {
		t.Errorf("the table lacks %q:\n%s", want, text)
	}

	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(bytes.NewReader(content)).ReadAll()
	if err != nil || len(rows) != runs+1 || !slices.Equal(rows[0], []string{"canary", "score"}) {
		t.Fatalf("%d rows, first %v: %v", len(rows), rows[0], err)
	}
	right := 0
	for _, row := range rows[1:] {
		score, err := strconv.ParseFloat(row[1], 64)
		if err != nil {
			t.Fatal(err)
		}
		if (score > 0) == (row[0] == "1") {
			right++
		}
	}
	if right != first.Right {
		t.Errorf("%d right guesses by the scores, %d by the report", right, first.Right)
	}
}

func TestAuditStopsInTime(t *testing.T) {
	start := time.Now()
	text, err := runAuditCommand(t, "--time", "300ms", "--epsilon", "0.5")
	if took := time.Since(start); err != nil || took > 10*time.Second || !strings.Contains(text, "0.9 takes about") {
		t.Errorf("after %v: %v: %s", took, err, text)
	}
}

// TestAuditPrintsItsPartsWithoutATerminal checks that the audit prints a line at the start of each stage if no terminal
// shows a bar.
func TestAuditPrintsItsPartsWithoutATerminal(t *testing.T) {
	var out bytes.Buffer
	progress := progressOn(&out)
	for _, what := range []string{"exact checks", "attack at step 1, runs"} {
		set, finish := progress(what, 0)
		set(1)
		finish()
	}
	if want := "    0 s: exact checks\n    0 s: attack at step 1, runs\n"; out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
}

func TestAuditRefusesBadFlags(t *testing.T) {
	for _, args := range [][]string{
		{"--runs", "1"},
		{"--runs", "-5"},
		{"--runs", "9000000"},
		{"--time", "0s"},
		{"--position", "3000000"},
		{"--steps", "3000000"},
		{"--alpha", "0"},
		{"--alpha", "1"},
		{"--epsilon", "-1"},
		{"--seed", "0a"},
		{"--runs", "9", "--time", "1s"},
	} {
		if _, err := runAuditCommand(t, args...); err == nil ||
			!strings.Contains(err.Error(), strings.TrimLeft(args[0], "-")) {
			t.Errorf("%v: %v", args, err)
		}
	}
	if _, err := runAuditCommand(t, "--runs", "9", "--scores", t.TempDir()); err == nil {
		t.Error("scores into a directory")
	}
}

// TestAggregateOfUsers covers user-level privacy, with a window and with decaying sums. The plan must describe the
// protection of users. The audit, which attacks all events of a user together, must not refute it.
func TestAggregateOfUsers(t *testing.T) {
	for name, more := range map[string]map[string]string{
		"total": {"ORIEL_WINDOW": "64"},
		"life":  {"ORIEL_WINDOW": "lifetime", "ORIEL_MEMORY": "16", "ORIEL_USER_WINDOW": "64"},
	} {
		f := unserved(t, map[string]string{
			"ORIEL_NAME": "delays", "ORIEL_INPUT_TOPIC": "arrivals", "ORIEL_OPERATOR": "aggregate", "ORIEL_EPSILON": "4",
			"ORIEL_DELTA": "1e-6", "ORIEL_CELLS": "variant=a|b,hour=0:24:2", "ORIEL_VALUE": "delay=-60:180",
			"ORIEL_STATISTICS": "mean,p50", "ORIEL_BINS": "8",
			"ORIEL_ARMS": "variant", "ORIEL_MECHANISM": "blt", "ORIEL_USER_ID": "key", "ORIEL_USER_SEPARATION": "8",
		})
		for key, value := range more {
			f.Env[key] = value
		}
		if text := f.Must("plan"); !strings.Contains(text, "user") {
			t.Errorf("%s: plan: %s", name, text)
		}
		text := f.Must("audit", "--runs", "20", "--steps", tiertest.Runs("8", "0"), "--seed", servicetest.Seed)
		if !strings.HasSuffix(text, "\nNot refuted.\n") {
			t.Errorf("%s: audit: %s", name, text)
		}
	}
}
