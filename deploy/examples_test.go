//go:build promtool

package deploy

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"oriel/pipeline/kafka/records"
	"oriel/pipeline/pipetest/logtest"
)

// published holds the members of a decision that these tests read.
type published struct {
	Stream     string
	Step       int
	Decision   []float64
	Increments []float64
	CountNoise []float64 `json:"count_deviation"`
	SumNoise   []float64 `json:"sum_deviation"`
	MeanLow    []float64 `json:"mean_low"`
	Shown      []float64 `json:"shown"`
	WindowSD   []float64 `json:"window_deviation"`
}

// numbers is a service that publishes numbers about flights in two partitions, with all its decisions.
type numbers struct {
	t         *testing.T
	names     string // path of names.json
	lines     []byte
	decisions []published
	values    [2][2][]float64 // by partition and cell: the clamped values of all events, which are steps, in order
	cells     [2][]int        // by partition, the cell of each step
}

const (
	flightsEach = 400 // number of flights in a partition
	memory      = 64
)

// serveNumbers runs the service with real processes on an embedded broker.
func serveNumbers(t *testing.T) *numbers {
	t.Helper()
	o := newBroker(t)
	key, state := filepath.Join(o.dir, "key"), filepath.Join(o.dir, "state")
	if err := os.Mkdir(state, 0o700); err != nil {
		t.Fatal(err)
	}
	environ := []string{
		"ORIEL_BROKERS=127.0.0.1:" + strconv.Itoa(o.port), "ORIEL_ALLOW_SINGLE_REPLICA=true", "ORIEL_NAME=delays",
		"ORIEL_INPUT_TOPIC=arrivals", "ORIEL_STREAM=partition", "ORIEL_START=earliest",
		"ORIEL_STATE_DIR=" + state, "ORIEL_MASTER_KEY_FILE=" + key,
		"ORIEL_HTTP_ADDR=127.0.0.1:0", "ORIEL_OPERATOR=aggregate", "ORIEL_CELLS=carrier=UA|AA", "ORIEL_VALUE=delay=-60:180",
		"ORIEL_STATISTICS=count,sum,mean", "ORIEL_MECHANISM=blt", "ORIEL_WINDOW=lifetime", fmt.Sprintf("ORIEL_MEMORY=%d",
			memory),
		"ORIEL_MEMORIES=64,1000000", "ORIEL_INCREMENTS=true", "ORIEL_EPSILON=8", "ORIEL_DELTA=1e-6",
	}
	n := &numbers{t: t}
	o.run(environ, "key", "--out", key)
	o.run(environ, "topics", "--input-partitions", "2")
	for p := range 2 {
		var events []records.Record
		for i := range flightsEach {
			cell, delay := (i+i/7+p)%2, i*i%300-80-20*p
			n.values[p][cell] = append(n.values[p][cell], max(-60, min(180, float64(delay))))
			n.cells[p] = append(n.cells[p], cell)
			events = append(events, records.Record{
				Value: fmt.Appendf(nil, `{"carrier":%q,"delay":%d}`, []string{"UA", "AA"}[cell], delay),
			})
		}
		if err := logtest.Send(t.Context(), o.client(), "arrivals", int32(p), events...); err != nil {
			t.Fatal(err)
		}
	}
	o.start(environ)
	tail := func(topic string) []byte {
		cmd := exec.Command(o.oriel, "tail", "--topic", topic, "--raw", "--follow=false")
		cmd.Env = environ
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("tail %s: %v", topic, err)
		}
		return out
	}
	for began := time.Now(); bytes.Count(n.lines, []byte("\n")) < 2*flightsEach; n.lines = tail("delays.decisions") {
		if time.Since(began) > time.Minute {
			t.Fatalf("%d decisions after a minute", bytes.Count(n.lines, []byte("\n")))
		}
	}
	for line := range bytes.Lines(n.lines) {
		var d published
		if err := json.Unmarshal(line, &d); err != nil {
			t.Fatal(err)
		}
		n.decisions = append(n.decisions, d)
	}
	n.names = filepath.Join(o.dir, "names.json")
	if err := os.WriteFile(n.names, tail("delays.descriptor"), 0o600); err != nil {
		t.Fatal(err)
	}
	return n
}

// python runs an example script over the decisions, and returns its output rows.
func (n *numbers) python(script string, args ...string) [][]string {
	n.t.Helper()
	cmd := exec.Command("python3", append([]string{filepath.Join("examples", script), n.names}, args...)...)
	cmd.Stdin = bytes.NewReader(n.lines)
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		n.t.Fatalf("%s: %v: %s", script, err, said.String())
	}
	var rows [][]string
	for line := range strings.Lines(string(out)) {
		rows = append(rows, strings.Split(strings.TrimSuffix(line, "\n"), "\t"))
	}
	return rows
}

func (n *numbers) equal(what, text string, want float64) {
	n.t.Helper()
	if got, err := strconv.ParseFloat(text, 64); err != nil || math.Abs(got-want) > 1e-9*max(1, math.Abs(want)) {
		n.t.Errorf("%s: %s, want %g", what, text, want)
	}
}

// last returns the newest decision of a stream.
func (n *numbers) last(stream string) (d published) {
	for _, x := range n.decisions {
		if x.Stream == stream {
			d = x
		}
	}
	return d
}

// TestExamplesOfNumbers runs the example scripts over decisions of a real service, and compares them with sums that are
// computed here.
func TestExamplesOfNumbers(t *testing.T) {
	n := serveNumbers(t)
	t.Run("numbers.py", n.shows)
	t.Run("windows.py", n.sums)
	t.Run("totals.py", n.adds)
	t.Run("hours", n.byTheClock)
}

// shows checks numbers.py. It must print every number of every decision with its interval, and a dash for a number that
// the decision marks with 0. Its code may have 21 lines at most.
func (n *numbers) shows(t *testing.T) {
	code := read(t, "examples/numbers.py")
	code = code[strings.LastIndex(code, `"""`)+4:]
	if lines := strings.Count(code, "\n"); lines > 21 {
		t.Errorf("%d lines", lines)
	}
	rows := n.python("numbers.py")
	if len(rows) != 2*flightsEach*12 {
		t.Fatalf("%d rows", len(rows))
	}
	dashes := 0
	for i, d := range n.decisions {
		if len(d.Shown) != len(d.Decision) {
			t.Fatalf("%d marks of %d numbers", len(d.Shown), len(d.Decision))
		}
		for k, x := range d.Decision { // d.Decision is ordered by view, then statistic, then cell
			row := rows[12*i+k]
			what := strings.Join(row, " ")
			statistic, cell, view := []string{"count", "sum", "mean"}[k/2%3], []string{"carrier=UA", "carrier=AA"}[k%2], k/6
			if want := []string{
				d.Stream, strconv.Itoa(d.Step), []string{"64", "1000000"}[view], statistic,
				cell,
			}; !slices.Equal(row[:5], want) {
				t.Fatalf("%s, want %s", what, want)
			}
			if d.Shown[k] == 1 {
				n.equal(what, row[5], x)
			} else if dashes++; row[5] != "–" {
				t.Errorf("%s: want a dash", what)
			}
			switch statistic {
			case "count":
				n.equal(what, row[6], x-1.96*d.CountNoise[view])
			case "sum":
				n.equal(what, row[6], x-1.96*d.SumNoise[view])
			case "mean":
				n.equal(what, row[6], d.MeanLow[view*2+k%2])
			}
		}
	}
	if dashes == 0 || dashes == len(rows) {
		t.Errorf("%d of %d numbers are dashes", dashes, len(rows))
	}
}

// sums checks windows of the newest steps. The script must print the sums of the released values, and the noise that
// the table states. The true value must be within seven standard deviations, which a normal deviate exceeds once in
// 10¹¹.
func (n *numbers) sums(t *testing.T) {
	for steps, noise := range map[int]func(table []float64) float64{
		1:   func(table []float64) float64 { return table[0] },
		256: func(table []float64) float64 { return table[8] },
		96:  func(table []float64) float64 { return table[6] * math.Pow(table[7]/table[6], math.Log2(1.5)) },
	} {
		rows := n.python("windows.py", strconv.Itoa(steps))
		if len(rows) != 4 {
			t.Fatalf("%d steps: %d rows", steps, len(rows))
		}
		for i, row := range rows {
			p, cell := i/2, i%2
			count, total := 0.0, 0.0
			for _, d := range n.decisions {
				if d.Stream == row[0] && d.Step > flightsEach-steps {
					count, total = count+d.Increments[cell], total+d.Increments[2+cell]
				}
			}
			sd := noise(n.last(row[0]).WindowSD)
			what := fmt.Sprintf("%d steps: %s", steps, strings.Join(row, " "))
			n.equal(what, row[2], count)
			n.equal(what, row[3], sd)
			n.equal(what, row[4], 60*count+120*total)
			n.equal(what, row[5], sd*math.Hypot(60, 120))
			wantCount, wantTotal := n.truth(p, cell, steps)
			if math.Abs(count-wantCount) > 7*sd || math.Abs(60*count+120*total-wantTotal) > 7*sd*math.Hypot(60, 120) {
				t.Errorf("%s: the truth is %g and %g", what, wantCount, wantTotal)
			}
		}
	}
}

// truth returns the number and the sum of a cell's events in the last steps of a partition.
func (n *numbers) truth(p, cell, steps int) (count, total float64) {
	seen := 0
	for step, c := range n.cells[p] {
		if c != cell {
			continue
		}
		if step >= flightsEach-steps {
			count, total = count+1, total+n.values[p][cell][seen]
		}
		seen++
	}
	return count, total
}

// adds checks the example that adds streams: it must add both values and variances of each stream's newest decision.
func (n *numbers) adds(t *testing.T) {
	rows := n.python("totals.py")
	a, b := n.last("0"), n.last("1")
	checked := 0
	for _, row := range rows {
		what := strings.Join(row, " ")
		view, cell := slices.Index([]string{"64", "1000000"}, row[1]), slices.Index([]string{"carrier=UA", "carrier=AA"},
			row[2])
		count, total := a.Decision[view*6+cell]+b.Decision[view*6+cell], a.Decision[view*6+2+cell]+b.Decision[view*6+2+cell]
		switch row[0] {
		case "count":
			n.equal(what, row[3], count)
			n.equal(what, row[4], math.Hypot(a.CountNoise[view], b.CountNoise[view]))
		case "sum":
			n.equal(what, row[3], total)
			n.equal(what, row[4], math.Hypot(a.SumNoise[view], b.SumNoise[view]))
		case "mean":
			n.equal(what, row[3], total/count)
		}
		checked++
	}
	if checked < 8 {
		t.Errorf("%d rows", checked)
	}
}

// byTheClock checks that DuckDB and pandas give the output of `oriel numbers`.
func (n *numbers) byTheClock(t *testing.T) {
	const every = "1000"
	venv := exec.Command("../.ci/venv", filepath.Join(os.TempDir(), "oriel-ci"), "examples/requirements.txt")
	venv.Stderr = os.Stderr
	python, err := venv.Output()
	if err != nil {
		t.Fatalf("packages of the examples: %v", err)
	}
	dir := filepath.Dir(n.names)
	if err := os.WriteFile(filepath.Join(dir, "decisions.json"), n.lines, 0o600); err != nil {
		t.Fatal(err)
	}
	run := func(stdin []byte, name string, args ...string) string {
		t.Helper()
		cmd := exec.Command(name, args...)
		cmd.Dir, cmd.Stdin, cmd.Stderr = dir, bytes.NewReader(stdin), os.Stderr
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s: %v", args, err)
		}
		return string(out)
	}
	own := run(nil, filepath.Join(dir, "oriel"), "numbers", "--input", "decisions.json", "--names", n.names,
		"--every", every+"ms", "--total", "--statistic", "count,sum", "--format", "csv")
	want := map[string][]string{} // by start of the hour and cell: count, its deviation, sum, its deviation
	for i, line := range strings.Split(strings.TrimSpace(own), "\n") {
		if c := strings.Split(line, ","); i > 0 {
			cell := strings.Replace("carrier="+c[2], "carrier=all", "all", 1)
			want[c[0]+" "+cell] = append(want[c[0]+" "+cell], c[4], c[7])
		}
	}
	script := strings.Replace(read(t, "examples/hours.sql"), "every = 3600000", "every = "+every, 1)
	const duck = `import duckdb, sys
for r in duckdb.connect().execute(sys.stdin.read()).fetchall(): print(*r, sep=",")`
	examples, err := filepath.Abs("examples/hours.py")
	if err != nil {
		t.Fatal(err)
	}
	for name, out := range map[string]string{
		"hours.sql": run([]byte(script), strings.TrimSpace(string(python)), "-c", duck),
		"hours.py":  run(n.lines, strings.TrimSpace(string(python)), "-B", examples, n.names, every),
	} {
		rows := strings.Split(strings.TrimSpace(out), "\n")
		if len(rows) != len(want) || len(rows) < 3 {
			t.Errorf("%s: %d rows, want %d", name, len(rows), len(want))
		}
		for _, row := range rows {
			c := strings.Split(row, ",")
			for i, x := range want[c[0]+" "+c[1]] {
				wanted, err := strconv.ParseFloat(x, 64)
				if err != nil {
					t.Fatal(err)
				}
				n.equal(name+" "+row, c[2+i], wanted)
			}
		}
	}
}
