//go:build python

package main

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"oriel/cmd/internal/repotest"
	"oriel/cmd/internal/servicetest"
)

// TestPythonOrdersPerHour counts orders per hour, by country and in total, from a foreign topic for which `oriel init`
// wrote the mapping. A numpy script reads the committed decisions and computes numbers, marginals and intervals with
// code of its own. `oriel numbers` must give the same in each format.
func TestPythonOrdersPerHour(t *testing.T) {
	t.Parallel()
	const orders, partitions = 2400, 3
	f := newFixture(t, partitions, nil)
	topic := f.Env["ORIEL_INPUT_TOPIC"]
	random := rand.New(rand.NewPCG(9, 9))
	first := time.Date(2025, 3, 1, 0, 0, 0, 0, time.UTC).UnixMilli()
	list := servicetest.Events(0, 0)
	for i := range orders {
		country, amount := []string{"DE", "FR", "US"}[random.IntN(3)], random.Float64()*100
		r := servicetest.Value(fmt.Sprintf(`{"order":{"id":"o%d","total":{"amount":%.2f,"currency":"EUR"}},`+
			`"customer":{"id":"c%d","country":%q}}`, i, amount, i%70, country))
		// times within 80 hours, not in order
		r.Timestamp = first + int64(i)*(2*time.Minute).Milliseconds() + random.Int64N(100_000)
		if list = append(list, r); len(list) == 100 {
			f.Send(int32(i/100%partitions), list...)
			list = list[:0]
		}
	}
	folder := filepath.Join(t.TempDir(), "made")
	f.Must("init", "--brokers", f.Env["ORIEL_BROKERS"], "--topic", topic, "--cells", "country=DE|FR|US", "--value",
		"amount:0:100", "--yes", "--out", folder)
	name := topic + "-oriel"
	f.Env, f.Name = settingsOf(t, filepath.Join(folder, "oriel.env")), name
	delete(f.Env, "ORIEL_STEP")
	maps.Copy(f.Env, map[string]string{ // sums with a memory, by the times of records; ε is large enough that means are shown
		"ORIEL_HTTP_ADDR": "127.0.0.1:0", "ORIEL_START": "earliest", "ORIEL_MECHANISM": "blt", "ORIEL_WINDOW": "lifetime",
		"ORIEL_MEMORY": "500", "ORIEL_DELTA": "1e-6", "ORIEL_EPSILON": "400", "ORIEL_INCREMENTS": "true", "ORIEL_EMIT_EVERY": "1",
	})
	f.Must("topics")
	f.Start(nil, "run")
	f.Await(time.Minute, "decisions of all records", func() bool {
		return len(f.Read(f.Topic("decisions"), 0, false)) == orders
	})
	dir := t.TempDir()
	for _, format := range []string{"csv", "json", "parquet"} {
		f.Must("numbers", "--every", "1h", "--total", "--topic", f.Topic("decisions"), "--statistic", "count,sum,mean",
			"--format", format, "-o", filepath.Join(dir, "numbers."+format))
	}
	script := repotest.Path("deploy/python/tests/orders_per_hour.py")
	python := os.Getenv("TEST_PYTHON")
	cmd := exec.CommandContext(t.Context(), python, "-B", script, f.Env["ORIEL_BROKERS"], name, dir)
	said, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	t.Log(string(said))
}

// python runs a script with the interpreter in TEST_PYTHON, in which deploy/python is installed.
func python(t *testing.T, script string) string {
	t.Helper()
	interpreter := os.Getenv("TEST_PYTHON")
	if interpreter == "" {
		t.Fatal("TEST_PYTHON names no interpreter")
	}
	cmd := exec.CommandContext(t.Context(), interpreter, "-B", "-c", script)
	cmd.Stderr = t.Output()
	said, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	return strings.TrimSpace(string(said))
}

// TestPythonScoresATopic runs the example in the README of the Python package. Its scores must equal those of `oriel
// score`, for decisions in each format and for the newest committed decision.
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
