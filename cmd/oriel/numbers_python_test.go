//go:build python

package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"oriel/cmd/internal/repotest"
	"oriel/cmd/internal/servicetest"
)

// TestPythonOrdersPerHour: orders per hour by country and in all, from a topic of others that `oriel init` has looked
// at. A script of numpy reads the committed decisions itself and computes numbers, marginals and intervals of its own:
// `oriel numbers` has the same in each format.
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
		r.Timestamp = first + int64(i)*(2*time.Minute).Milliseconds() + random.Int64N(100_000) // 80 hours, not in order
		if list = append(list, r); len(list) == 100 {
			f.Send(int32(i/100%partitions), list...)
			list = list[:0]
		}
	}
	folder := filepath.Join(t.TempDir(), "made")
	f.Must("init", "--brokers", f.Env["ORIEL_BROKERS"], "--topic", topic, "--want", "statistics", "--cells",
		"country=DE|FR|US", "--value", "amount:0:100", "--memory", "500", "--epsilon", "20", "--rate", "1", "--yes",
		"--out", folder)
	name := topic + "-oriel"
	f.Env, f.Name = settingsOf(t, filepath.Join(folder, "oriel.env")), name
	f.Env["ORIEL_HTTP_ADDR"], f.Env["ORIEL_EPSILON"] = "127.0.0.1:0", "400" // so that means are known
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
	python := os.Getenv("ORIEL_TEST_PYTHON")
	cmd := exec.CommandContext(t.Context(), python, "-B", script, f.Env["ORIEL_BROKERS"], name, dir)
	said, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	t.Log(string(said))
}
