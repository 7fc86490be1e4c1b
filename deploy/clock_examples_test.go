//go:build promtool

package deploy

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"oriel/mechanisms/mechtest/tiertest"
	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/records"
	"oriel/pipeline/kafka/topics"
	"oriel/pipeline/pipetest/brokertest"
	"oriel/pipeline/pipetest/logtest"
)

// clocked is a deployment with steps of a second, whose minutes `oriel numbers` has added up.
type clocked struct {
	t     *testing.T
	dir   string
	lines []byte
	every string               // ms
	want  map[string][]float64 // value, deviation and number of steps, by start, cell and statistic
}

// serveClocked runs a real process over a topic that exists for some minutes, and reads its decisions.
func serveClocked(t *testing.T) *clocked {
	t.Helper()
	o := newBroker(t)
	client := brokertest.Client(t, o.broker.Addr(), kafka.Config{})
	appended := map[string]string{"message.timestamp.type": "LogAppendTime"}
	if err := topics.Create(t.Context(), client, "orders", 2, 1, appended); err != nil {
		t.Fatal(err)
	}
	key := filepath.Join(o.dir, "key")
	environ := []string{
		"ORIEL_BROKERS=127.0.0.1:" + strconv.Itoa(o.port), "ORIEL_ALLOW_SINGLE_REPLICA=true", "ORIEL_NAME=hourly",
		"ORIEL_INPUT_TOPIC=orders", "ORIEL_STREAM=topic", "ORIEL_STATE_DIR=" + filepath.Join(o.dir, "state"),
		"ORIEL_START=" + time.Now().Add(-150*time.Second).UTC().Format(time.RFC3339), "ORIEL_MASTER_KEY_FILE=" + key,
		"ORIEL_HTTP_ADDR=127.0.0.1:0", "ORIEL_OPERATOR=aggregate", "ORIEL_CELLS=country=DE|FR|US", "ORIEL_VALUE=total=0:100",
		"ORIEL_STATISTICS=count,sum,mean", "ORIEL_MECHANISM=once-laplace", "ORIEL_STEP=1s", "ORIEL_EPSILON=4",
	}
	events := make([]records.Record, 3000)
	for i := range events {
		events[i].Value = fmt.Appendf(nil, `{"country":%q,"total":%d}`, []string{"DE", "FR", "US"}[i%5/2], i%110)
	}
	o.run(environ, "key", "--out", key)
	o.run(environ, "topics")
	if err := logtest.Send(t.Context(), client, "orders", 0, events...); err != nil {
		t.Fatal(err)
	}
	o.start(environ)
	c := &clocked{t: t, dir: o.dir, every: "60000", want: map[string][]float64{}}
	oriel := func(args ...string) []byte {
		cmd := exec.Command(o.oriel, args...)
		cmd.Env, cmd.Dir = environ, o.dir
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%v: %v", args, err)
		}
		return out
	}
	for began := time.Now(); bytes.Count(c.lines, []byte("\n")) < 150; time.Sleep(time.Second) {
		if time.Since(began) > time.Minute {
			t.Fatalf("%d decisions after a minute", bytes.Count(c.lines, []byte("\n")))
		}
		c.lines = oriel("tail", "--topic", "hourly.decisions", "--raw", "--from-beginning", "--follow=false")
	}
	for name, content := range map[string][]byte{
		"decisions.json": c.lines, "names.json": oriel("tail", "--topic", "hourly.descriptor", "--raw", "--follow=false"),
	} {
		if err := os.WriteFile(filepath.Join(o.dir, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	own := oriel("numbers", "--input", "decisions.json", "--names", "names.json", "--every", "1m",
		"--statistic", "count,sum",
		"--format", "csv")
	rows, err := csv.NewReader(bytes.NewReader(own)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows[1:] { // start, end, country, statistic, value, low, high, deviation, steps, note
		c.want[r[0]+" country="+r[2]+" "+r[3]] = []float64{number(t, r[4]), number(t, r[7]), number(t, r[8])}
	}
	return c
}

func number(t *testing.T, text string) float64 {
	t.Helper()
	x, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// python runs Python with the packages of a file.
func (c *clocked) python(requirements string, stdin []byte, args ...string) string {
	c.t.Helper()
	venv := exec.Command("../.ci/venv", filepath.Join(os.TempDir(), "oriel-ci"), "examples/"+requirements)
	venv.Stderr = os.Stderr
	python, err := venv.Output()
	if err != nil {
		c.t.Fatalf("packages of the examples: %v", err)
	}
	cmd := exec.Command(strings.TrimSpace(string(python)), append([]string{"-B"}, args...)...)
	cmd.Dir, cmd.Stdin, cmd.Stderr = c.dir, bytes.NewReader(stdin), os.Stderr
	out, err := cmd.Output()
	if err != nil {
		c.t.Fatalf("%s: %v", args, err)
	}
	return strings.ReplaceAll(string(out), `"`, "")
}

// compare checks rows of start, cell, statistic, value, deviation and number of steps.
func (c *clocked) compare(name, out string) {
	c.t.Helper()
	rows := strings.Split(strings.TrimSpace(out), "\n")
	if len(rows) != len(c.want) || len(rows) < 3*3*2 {
		c.t.Errorf("%s: %d rows, want %d", name, len(rows), len(c.want))
	}
	for _, row := range rows {
		r := strings.Split(row, ",")
		want := c.want[strings.Join(r[:3], " ")]
		for i, x := range want {
			if got := number(c.t, r[3+i]); math.Abs(got-x) > 1e-9*max(1, math.Abs(x)) {
				c.t.Errorf("%s: %s, want %g", name, row, want)
			}
		}
		if want == nil {
			c.t.Errorf("%s: %s is no number of oriel numbers", name, row)
		}
	}
}

// TestExamplesOfStepsByTheClock checks that DuckDB and pandas give the sums and deviations of `oriel numbers`. The long
// form parses and runs the statements for ClickHouse, too, whose packages are large. Its Kafka table is replaced by the
// same lines in a file, because ClickHouse in a process has no Kafka.
func TestExamplesOfStepsByTheClock(t *testing.T) {
	c := serveClocked(t)
	const duck = `import duckdb, sys
for r in duckdb.connect().execute(sys.stdin.read()).fetchall(): print(*r, sep=",")`
	script := strings.Replace(read(t, "examples/clock.sql"), "every = 86400000", "every = "+c.every, 1)
	c.compare("clock.sql", c.python("requirements.txt", []byte(script), "-c", duck))
	examples, err := filepath.Abs("examples/clock.py")
	if err != nil {
		t.Fatal(err)
	}
	c.compare("clock.py", c.python("requirements.txt", c.lines, examples, "names.json", c.every))
	if tiertest.Runs(true, false) {
		return
	}
	statements := strings.Split(read(t, "examples/clickhouse.sql"), ";\n")
	for i, s := range statements {
		if _, columns, found := strings.Cut(s, "create table decisions ("); found {
			columns, _, _ = strings.Cut(columns, ") engine")
			statements[i] = "create table decisions engine = Memory as select * from file('decisions.json', JSONEachRow, '" + columns + "')"
		}
		// The view takes what comes after it. So its select fills the table that it would fill.
		const view = "create materialized view numbers_of_decisions to numbers as"
		statements[i] = strings.Replace(statements[i], view, "insert into numbers", 1)
		if s == "" || strings.HasPrefix(statements[i], "insert into numbers") {
			statements[i] = "insert into names select cells, statistics from file('names.json', JSONEachRow, " +
				"'cells Array(String), statistics Array(String)');\n" + statements[i]
		}
	}
	statementsOf := strings.TrimSuffix(read(t, "examples/clickhouse.sql"), ";\n")
	parsed := "explain ast " + strings.ReplaceAll(statementsOf, ";\n", ";\nexplain ast ")
	script = parsed + ";\n" + strings.TrimSuffix(strings.Join(statements, ";\n"), ";\n")
	panel := strings.Replace(read(t, "examples/grafana.sql"), "$__timeFilter(start)", "start > toDateTime(0)", 1)
	const house = `import chdb.session, sys
s = chdb.session.Session()
script, panel = sys.stdin.read().split("\n--panel--\n")
for statement in script.split(";\n"): s.query(statement)
print(s.query("""select formatDateTime(toStartOfInterval(start, interval 60 second), '%Y-%m-%dT%H:%i:%SZ'),
    cell, statistic, sum(value), sqrt(sum(deviation * deviation)), count() from numbers final
    where statistic in ('count', 'sum') group by all""", "CSV"), end="")
assert int(str(s.query("select count() from (" + panel + ") where low < value and value < high", "CSV"))) >= 450`
	c.compare("clickhouse.sql", c.python("clickhouse.txt", []byte(script+"\n--panel--\n"+panel), "-c", house))
}
