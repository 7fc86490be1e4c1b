//go:build python

package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"oriel/cmd/internal/repotest"
)

// python runs a script by the interpreter of ORIEL_TEST_PYTHON, where deploy/python is installed.
func python(t *testing.T, script string) string {
	t.Helper()
	interpreter := os.Getenv("ORIEL_TEST_PYTHON")
	if interpreter == "" {
		t.Fatal("ORIEL_TEST_PYTHON names no interpreter")
	}
	cmd := exec.CommandContext(t.Context(), interpreter, "-B", "-c", script)
	cmd.Stderr = t.Output()
	said, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	return strings.TrimSpace(string(said))
}

// TestPythonScoresATopic: README's lines, and scores that are those of `oriel score`, of decisions in each format and
// of the newest one that is committed.
func TestPythonScoresATopic(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"json", "protobuf", "avro"} {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, 1, map[string]string{
				"ORIEL_DECISIONS_FORMAT": format, "ORIEL_STREAM": "topic", "ORIEL_FEATURES_RANGE": "hour:0:24:cyclic",
			})
			run := f.HasTakenTen()
			named := strings.NewReplacer("late.decisions", f.Topic("decisions"), "localhost:9092", f.Env["ORIEL_BROKERS"])
			said := python(t, named.Replace(repotest.Block(t, "README.md", "Scorer.from_topic")))
			if !strings.HasPrefix(said, "stream "+f.Env["ORIEL_INPUT_TOPIC"]+", step 10, ") || strings.Count(said, "± ") != 2 {
				t.Errorf("README's lines print %s", said)
			}
			said = python(t, named.Replace(`
import json
from oriel import Scorer
scorer = Scorer.from_topic("late.decisions", "localhost:9092")
row = [{"hour": 3, "carrier": "UA"}]
score, stream = scorer.predict_proba(row)[0, 1], scorer.stream_of(b"JFK")
print(json.dumps({"step": scorer.latest().step, "score": score, "stream": stream}))
`))
			cmd := f.Child(nil, "score")
			cmd.Stdin = strings.NewReader(`{"features":{"hour":3,"carrier":"UA"}}`)
			answer, err := cmd.Output()
			if err != nil {
				t.Fatal(err)
			}
			mine, want := answersOf(t, said)[0], answersOf(t, string(answer))[0]
			if difference := mine.Score - want.Score; mine.Step != want.Step || mine.Stream != want.Stream ||
				difference > 1e-12 || difference < -1e-12 {
				t.Errorf("Python %+v, oriel score %+v", mine, want)
			}
			run.Terminate()
		})
	}
}
