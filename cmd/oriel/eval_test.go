package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"oriel/cmd/internal/eval/race"
	"oriel/cmd/internal/servicetest"
	"oriel/schemas/decision"
)

// evalEvents returns n lines with events of two classes, one line of them malformed, with the events' feature vectors
// and labels.
func evalEvents(n int) (lines string, xs [][6]float64, ys []float64) {
	rng := rand.New(rand.NewPCG(5, 5))
	var b strings.Builder
	for range n {
		x, y := [6]float64{1}, -1.0
		for i := 1; i < len(x); i++ {
			x[i] = float64(rng.IntN(9))/8 - 0.5
		}
		if rng.Float64() < 0.5+x[1]-x[2]/2 {
			y = 1
		}
		xs, ys = append(xs, x), append(ys, y)
		text, _ := json.Marshal(x)
		fmt.Fprintf(&b, "{\"features\":%s,\"label\":%g}\n", text, y)
	}
	return b.String(), xs, ys
}

// documentIn decodes the JSON in a command's output, after its log lines. In a report, null stands for figures that do
// not exist.
func documentIn(t *testing.T, said string, into any) {
	t.Helper()
	document := said[strings.IndexByte(said, '{') : strings.LastIndexByte(said, '}')+1]
	if err := json.Unmarshal([]byte(document), into); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
}

func (f *fixture) evaluates(args ...string) race.Report {
	f.T.Helper()
	said := f.Must(append([]string{"eval", "--json"}, args...)...)
	var r race.Report
	documentIn(f.T, said, &r)
	return r
}

// TestEvalScoresTheDecisionsOfReplay checks the loss that eval reports, with a delay and without. Each decision that a
// replay publishes with the secret of the same seed must be scored on the next event.
func TestEvalScoresTheDecisionsOfReplay(t *testing.T) {
	for form, encoding := range map[string]string{"dense": "json", "sparse": "avro"} {
		t.Run(form, func(t *testing.T) { scoresReplay(t, form, encoding) })
	}
}

func scoresReplay(t *testing.T, form, encoding string) {
	t.Helper()
	const n = 400
	f := offline(t, map[string]string{"ORIEL_DECISIONS": form, "ORIEL_DECISIONS_FORMAT": encoding})
	lines, xs, ys := evalEvents(n)
	file := servicetest.WriteFile(t, "events.ndjson", []byte(lines))
	secret := sha256.Sum256([]byte("oriel eval, seed 1"))
	var points [][]float64
	for _, line := range bytes.Split(bytes.TrimSpace([]byte(f.Must("replay", "--events", file,
		"--seed", hex.EncodeToString(secret[:])))), []byte("\n")) {
		d, err := decision.Parse(line)
		if err != nil || d.Encoding != decision.JSON {
			t.Fatalf("%v: %q", err, line)
		}
		points = append(points, d.Point)
	}
	for _, delay := range []int{0, 25} {
		want := 0.0
		for i, x := range xs {
			margin := 0.0
			for k := range x {
				if i > delay {
					margin += x[k] * points[i-delay-1][k]
				}
			}
			want += math.Log1p(math.Exp(-ys[i] * margin))
		}
		r := f.evaluates("--ndjson", file, "--delay", fmt.Sprint(delay))
		if got := float64(r.Rows[0].Loss.Mean); r.Events != n || math.Abs(got-want/n) > 1e-12 {
			t.Errorf("delay %d: %d events, loss %g, want %g", delay, r.Events, got, want/n)
		}
	}
}

// TestEvalComparesInOnePass checks that one pass over the events gives a row for each ε and window, and that CSV
// and a topic give the same figures.
func TestEvalComparesInOnePass(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 2, map[string]string{"ORIEL_DIMENSION": "6"})
	var csv strings.Builder
	csv.WriteString("a,b,late\n")
	even, odd := servicetest.Events(0, 450), servicetest.Events(0, 450)
	rng := rand.New(rand.NewPCG(6, 6))
	for i := range 900 {
		a, b, late := rng.IntN(4), rng.IntN(10), rng.IntN(30)
		fmt.Fprintf(&csv, "%d,%d,%d\n", a, b, late)
		same := even
		if i%2 == 1 {
			same = odd
		}
		same[i/2].Value = fmt.Appendf(nil, `{"features":{"a":"%d","b":%d},"label":%t}`, a, b, late > 20)
	}
	file := servicetest.WriteFile(t, "events.csv", []byte(csv.String()))
	mapping := []string{
		"--csv", file, "--label", "late>20", "--feature", "a", "--feature", "b:number",
	}
	r := f.evaluates(append(mapping, "--partitions", "2", "--epsilon", "1,4", "--window", "8,64", "--seeds", "2")...)
	if len(r.Rows) != 6 || r.Rows[3].Epsilon != 4 || r.Rows[3].Window != 64 || r.Rows[4].Kind != race.KindReference ||
		r.Streams != 2 {
		t.Fatalf("rows %+v", r.Rows)
	}
	topic := f.Env["ORIEL_INPUT_TOPIC"]
	f.Send(0, even...)
	f.Send(1, odd...)
	of := f.evaluates("--topic", topic, "--epsilon", "1,4", "--window", "8,64", "--seeds", "2")
	for i := range of.Rows {
		a, b := of.Rows[i], r.Rows[i] // the order of addition differs, because the file alternates between streams
		if math.Abs(float64(a.Loss.Mean-b.Loss.Mean)) > 1e-12 || math.Abs(float64(a.AUC.Worst-b.AUC.Worst)) > 1e-12 {
			t.Errorf("row %d: %v from the topic, %v from the file", i, a.Loss, b.Loss)
		}
	}
	f.evaluates("--topic", topic, "--delay", "10ms")

	f.Env["ORIEL_STREAM"] = "topic"
	one := f.evaluates("--topic", topic, "--window", "64")
	if one.Streams != 1 || one.Events != r.Events {
		t.Errorf("%d streams of %d events, want one of %d", one.Streams, one.Events, r.Events)
	}
}

func TestEvalRefusesBadFlags(t *testing.T) {
	f := offline(t, nil)
	lines, _, _ := evalEvents(9)
	file := servicetest.WriteFile(t, "events.ndjson", []byte(lines))
	f.Fails("ndjson csv topic", "eval")
	f.Fails("--delay", "eval", "--ndjson", file, "--delay", "10ms")
	f.Fails("--delay", "eval", "--ndjson", file, "--delay", "-1")
	f.Fails("--seeds", "eval", "--ndjson", file, "--seeds", "0")
	f.Fails("ORIEL_EPSILON", "eval", "--ndjson", file, "--epsilon", "0")
	f.Fails("ORIEL_WINDOW", "eval", "--ndjson", file, "--window", "9")
	f.Fails("no event can be scored", "eval", "--ndjson", servicetest.WriteFile(t, "none", []byte("{}\n")))
	packed := servicetest.WriteFile(t, "packed", []byte("\x1f\x8b\x08\x00\n"))
	f.Fails("The file has no lines of JSON: it is compressed by gzip: unpack it first", "eval", "--ndjson", packed)
	wide := servicetest.WriteFile(t, "wide", []byte("\xff\xfe{\x00}\x00\n\x00"))
	f.Fails("`iconv -f UTF-16 -t UTF-8 FILE` converts it", "eval", "--ndjson", wide)
	f.Fails("no such file", "eval", "--ndjson", file+".missing")
	said := f.Must("eval", "--ndjson", file)
	for _, want := range []string{
		"base rate", "no privacy", "outside the guarantee", "computed without privacy", "Calibration",
	} {
		if !strings.Contains(said, want) {
			t.Errorf("%q is not said: %s", want, said)
		}
	}
}

// TestEvalNamesTheLineThatIsNoEvent checks the error for a malformed line. Its line number must count from 1 in the
// file, as in every command, whatever the number of streams, and it must name the wrong member.
func TestEvalNamesTheLineThatIsNoEvent(t *testing.T) {
	f := offline(t, nil)
	lines := strings.Repeat(`{"features":[1,0,0,0,0,0],"label":1}`+"\n", 40)
	stray := `{"features":[1,0,0,0,0,0],"label":1,"event_id":1}` + "\n"
	file := servicetest.WriteFile(t, "events.ndjson", []byte(lines+stray+lines))
	const what = `: unknown_name: unknown member "event_id": events of coco have features, label, weight`
	for _, args := range [][]string{{"--partitions", "1"}, {"--partitions", "3"}} {
		said := f.prints(append([]string{"eval", "--ndjson", file}, args...)...)
		if !strings.Contains(said, "the first is line 41"+what) {
			t.Errorf("%v: %s", args, said)
		}
	}
	table := servicetest.WriteFile(t, "events.csv", []byte("a,b,label\n1,0,1\n2,0,0\n3,0,7\n"))
	f.Env["ORIEL_DIMENSION"] = "2"
	said := f.prints("eval", "--csv", table, "--member", "features=a,b", "--member", "label=label")
	if !strings.Contains(said, "the first is record 3: label: label_range: ") {
		t.Errorf("a table: %s", said)
	}
}

// TestEvalMapsRows checks that a mapping file gives the same figures as the equivalent flags, that flags that exclude
// each other are refused, and that errors name the flag.
func TestEvalMapsRows(t *testing.T) {
	f := offline(t, nil)
	rows := "hour;origin;late\n"
	for i := range 60 {
		rows += fmt.Sprintf("%d;%s;%d\n", 59-i, []string{"EWR", "JFK", "SEA"}[i%3], i%7)
	}
	file := servicetest.WriteFile(t, "flights.csv", []byte(rows))
	mapping := servicetest.WriteFile(t, "mapping.json", []byte(`{"where":"hour>=3","label":"late>3","features":["origin","hour:number"],"partition_by":"origin","key":"origin","sort":["hour","origin"]}`))
	table := func(more ...string) []string {
		return append([]string{"eval", "--csv", file, "--delimiter", ";", "--partitions", "2"}, more...)
	}
	flags := []string{
		"--where", "hour>=3", "--label", "late>3", "--feature", "origin", "--feature", "hour:number",
		"--partition-by", "origin", "--key", "origin", "--sort", "hour,origin",
	}
	said := f.prints(table(flags...)...)
	if same := f.prints(table("--map", mapping)...); same != said || !strings.Contains(said, "57 events") {
		t.Errorf("by flags:\n%s\nby a mapping:\n%s", said, same)
	}
	if other := f.prints(table(flags[:len(flags)-2]...)...); other == said {
		t.Error("--sort changes nothing")
	}
	f.Fails("ndjson csv topic", "eval")
	f.Fails("ndjson csv", "eval", "--ndjson", file, "--csv", file)
	for _, name := range mappingFlags {
		f.Fails("ndjson "+name, "eval", "--ndjson", file, "--"+name, "a")
		f.Fails("map "+name, table("--map", file, "--"+name, "a")...)
	}
	f.Fails("--label: missing: events must have one", table("--feature", "origin")...)
	f.Fails(`--feature: no column "c"`, table("--label", "late", "--feature", "c")...)
	f.Fails("--delimiter may be wrong", "eval", "--csv", file, "--label", "late", "--feature", "origin")
	f.Fails("--delimiter: not one character", "eval", "--csv", file, "--delimiter", "::", "--label", "late", "--feature",
		"origin")
	f.Env["ORIEL_LOSS"], f.Env["ORIEL_SET"], f.Env["ORIEL_DIMENSION"] = "portfolio", "simplex", "2"
	f.Fails(`--member: events have no member "cost"`, table("--member", "cost=hour")...)
	f.Fails(`--member: nothing gives the member relatives`, table("--member", "weight=hour")...)
}
