package numbers_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"

	"oriel/cmd/internal/numbers"
	"oriel/cmd/internal/replay"
	"oriel/cmd/internal/settings"
	"oriel/mechanisms/mechtest/tiertest"
	"oriel/operators"
	"oriel/pipeline/kafka/fetch"
	"oriel/pipeline/kafka/records"
	"oriel/pipeline/streams"
	"oriel/schemas"
)

// deployment is a stream of aggregate whose decisions are lines, and what came in truth.
type deployment struct {
	names *numbers.Names
	lines []byte
	rows  []row
}

// row is an event.
type row struct {
	carrier string
	hour    int
	delay   float64
	ms      int64
}

// start is 2026-01-31 21:30 UTC: days and months end soon after it.
const start = 1769895000000

// serve plays events, one a step and one each so many seconds, through a stream of its own seed.
func serve(t *testing.T, seed uint64, events int, apart time.Duration, env ...string) deployment {
	t.Helper()
	env = append([]string{
		"ORIEL_OPERATOR=aggregate", "ORIEL_CELLS=carrier=UA|AA|DL,hour=0:24:2", "ORIEL_VALUE=delay=-60:180",
		"ORIEL_STATISTICS=count,sum,mean,variance,p50", "ORIEL_BINS=16", "ORIEL_EPSILON=8", "ORIEL_DELTA=1e-6",
	}, env...)
	s, err := settings.Load(env, settings.Events, settings.Operator)
	if err != nil {
		t.Fatal(err)
	}
	m, err := s.Model()
	if err != nil {
		t.Fatal(err)
	}
	stream, err := replay.Open(m, replay.Options{Seed: fmt.Sprintf("%064x", seed+1)})
	if err != nil {
		t.Fatal(err)
	}
	var d deployment
	if d.names, err = numbers.ParseNames(operators.DescriptorOf(m.Learner.Operator())); err != nil {
		t.Fatal(err)
	}
	walk := streams.Walk{
		Stream: stream, Taken: func(*records.Record, int64, schemas.Code) {},
		Decided: func(_ uint8, _, line []byte) { d.lines = append(append(d.lines, line...), '\n') },
	}
	walk.Start()
	random := rand.New(rand.NewPCG(seed, 1))
	for i := range events {
		r := row{
			[]string{"UA", "AA", "DL"}[random.IntN(3)], random.IntN(24), float64(random.IntN(200) - 40),
			start + int64(i)*apart.Milliseconds(),
		}
		d.rows = append(d.rows, r)
		value := fmt.Appendf(nil, `{"carrier":%q,"hour":%d,"delay":%g}`, r.carrier, r.hour, r.delay)
		of := records.Record{Public: records.Public{Offset: int64(i), Timestamp: r.ms}, Value: value}
		b := fetch.Batch{From: int64(i), Next: int64(i) + 1, Records: []records.Record{of}}
		if err := walk.Take(&b, func() int64 { return b.Next }); err != nil {
			t.Fatal(err)
		}
	}
	return d
}

// memory are settings with increments.
var memory = []string{
	"ORIEL_MECHANISM=blt", "ORIEL_WINDOW=lifetime", "ORIEL_MEMORY=64", "ORIEL_INCREMENTS=true", "ORIEL_EMIT_EVERY=2",
}

func collect(t *testing.T, d deployment, clock numbers.Clock) *numbers.Collector {
	t.Helper()
	c, err := numbers.NewCollector(d.names, clock)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.AddLines(bytes.NewReader(d.lines)); err != nil {
		t.Fatal(err)
	}
	return c
}

func rowsOf(t *testing.T, c *numbers.Collector, q numbers.Query) []numbers.Row {
	t.Helper()
	rows, err := c.Rows(q)
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// An independent sum: increments of decisions by interval and cell, whose variance is that of all pairs of steps,
// with the covariance of two single steps from the table. Values and deviations agree to 1e-9.
func TestNumbersAreThoseOfADenseTwin(t *testing.T) {
	d := serve(t, 3, 600, 10*time.Second, memory...)
	c := collect(t, d, numbers.Clock{Every: time.Hour})
	type decision struct {
		Step       uint64
		Time       int64
		Increments []float64
		Table      []float64 `json:"window_deviation"`
	}
	var all []decision
	for line := range bytes.Lines(d.lines) {
		var one decision
		if err := json.Unmarshal(line, &one); err != nil {
			t.Fatal(err)
		}
		all = append(all, one)
	}
	squared := func(w int) float64 { // V(w)
		if w == 0 {
			return 0
		}
		table, k := all[0].Table, 0
		for 1<<(k+1) <= w && k < len(table)-2 {
			k++
		}
		f := math.Log2(float64(w)) - float64(k)
		return math.Pow(math.Pow(table[k], 1-f)*math.Pow(table[k+1], f), 2)
	}
	covariance := []float64{squared(1)} // of two steps, by how far apart they are
	for lag := 1; lag < 600; lag++ {
		covariance = append(covariance, (squared(lag+1)-2*squared(lag)+squared(lag-1))/2)
	}
	for _, of := range []struct {
		by    []string
		cells map[string][]int
	}{
		{nil, map[string][]int{
			"UA 0:12": {0}, "UA 12:24": {1}, "AA 0:12": {2}, "AA 12:24": {3}, "DL 0:12": {4}, "DL 12:24": {5},
		}},
		{[]string{"carrier"}, map[string][]int{"UA all": {0, 1}, "AA all": {2, 3}, "DL all": {4, 5}}},
		{[]string{"hour"}, map[string][]int{"all 0:12": {0, 2, 4}, "all 12:24": {1, 3, 5}}},
		{[]string{}, map[string][]int{"all all": {0, 1, 2, 3, 4, 5}}},
	} {
		rows := rowsOf(t, c, numbers.Query{By: of.by, Statistics: []string{"count", "sum"}})
		if len(rows) != 3*2*len(of.cells) { // 21:30 to 23:10
			t.Fatalf("%d rows by %v", len(rows), of.by)
		}
		for _, r := range rows {
			count, x, steps := 0.0, 0.0, []int{}
			for _, one := range all {
				if one.Time < r.Start.UnixMilli() || one.Time >= r.End.UnixMilli() {
					continue
				}
				for _, cell := range of.cells[strings.Join(r.Places, " ")] {
					count += one.Increments[cell]
					x += one.Increments[6+cell]
				}
				steps = append(steps, int(one.Step)-1, int(one.Step))
			}
			want, v := count, 0.0
			for _, a := range steps {
				for _, b := range steps {
					v += covariance[max(a-b, b-a)]
				}
			}
			v *= float64(len(of.cells[strings.Join(r.Places, " ")]))
			if r.Statistic == "sum" {
				n, s := 60*d.names.Deviations[0], 120*d.names.Deviations[1]
				want, v = 60*count+120*x, v*(n*n+s*s)
			}
			deviation := math.Sqrt(v)
			if math.Abs(r.Value-want) > 1e-9*(1+math.Abs(want)) || math.Abs(r.Deviation/deviation-1) > 1e-9 ||
				math.Abs(r.High-r.Value-1.959963984540054*deviation) > 1e-9*deviation || r.Steps != uint64(len(steps)) {
				t.Errorf("%v %v %s: %g ± %g of %d steps, want %g ± %g of %d", r.Start, r.Places, r.Statistic, r.Value,
					r.Deviation, r.Steps, want, deviation, len(steps))
			}
		}
	}
}

// Intervals cover the truth in 95 % of cases. Events of a step are of one cell, so that the intervals of six cells and
// of hours that are far apart in noise are independent but for little. A share over n of them is off by more than
// 4.9·√(0.95·0.05/n) once in a million; the rule for windows between two of the table is allowed a per cent of a
// deviation, which is 0.23 points.
func TestIntervalsCover(t *testing.T) {
	hits, all := map[string]int{}, map[string]int{}
	for seed := range uint64(tiertest.Runs(3, 20)) {
		d := serve(t, seed, 3600, 5*time.Second, append([]string{"ORIEL_EPSILON=60"}, memory...)...)
		c := collect(t, d, numbers.Clock{Every: time.Duration(100+seed) * time.Second})
		for _, r := range rowsOf(t, c, numbers.Query{Statistics: []string{"count", "sum", "mean", "variance"}, Total: true}) {
			n, s, squares := 0.0, 0.0, 0.0
			for i, e := range d.rows {
				if e.ms = d.rows[i|1].ms; e.ms < r.Start.UnixMilli() || e.ms >= r.End.UnixMilli() { // of its decision
					continue
				}
				half := map[bool]string{true: "0:12", false: "12:24"}[e.hour < 12]
				if r.Places[0] != numbers.All && (r.Places[0] != e.carrier || r.Places[1] != half) {
					continue
				}
				n, s, squares = n+1, s+e.delay, squares+e.delay*e.delay
			}
			truth := map[string]float64{"count": n, "sum": s, "mean": s / n, "variance": squares/n - s/n*s/n}[r.Statistic]
			if n == 0 && r.Statistic != "count" && r.Statistic != "sum" {
				continue
			}
			all[r.Statistic]++
			if math.IsNaN(r.Low) || r.Low-1e-9 <= truth && truth <= r.High+1e-9 {
				hits[r.Statistic]++
			}
		}
	}
	for name, n := range all {
		share, away := float64(hits[name])/float64(n), 4.9*math.Sqrt(0.95*0.05/float64(n))+0.0023
		t.Logf("%s: %.4f of %d", name, share, n)
		if exact := name == "count" || name == "sum"; share < 0.95-away || exact && share > 0.95+away {
			t.Errorf("%s: %.4f of %d intervals cover, want 0.95 within %.4f", name, share, n, away)
		}
	}
}

// Steps that are released alone add up with independent noise.
func TestStepsAloneAddUp(t *testing.T) {
	d := serve(t, 5, 480, time.Minute, "ORIEL_MECHANISM=once-gaussian", "ORIEL_BATCH=16", "ORIEL_BINS=",
		"ORIEL_STATISTICS=count,sum,mean")
	c := collect(t, d, numbers.Clock{})
	for _, r := range rowsOf(t, c, numbers.Query{By: []string{}, Statistics: []string{"count", "mean"}}) {
		count, noise := 0.0, 0.0
		for line := range bytes.Lines(d.lines) {
			var one struct {
				Decision []float64
				Noise    []float64 `json:"count_deviation"`
			}
			if err := json.Unmarshal(line, &one); err != nil {
				t.Fatal(err)
			}
			for _, x := range one.Decision[:6] {
				count, noise = count+x, noise+one.Noise[0]*one.Noise[0]
			}
		}
		if r.Statistic == "count" && (math.Abs(r.Value-count) > 1e-6 || math.Abs(r.Deviation/math.Sqrt(noise)-1) > 1e-9) {
			t.Errorf("%g ± %g, want %g ± %g", r.Value, r.Deviation, count, math.Sqrt(noise))
		}
		if r.Statistic == "mean" && !(r.Low < 59.5 && 59.5 < r.High) { // −40 to 159
			t.Errorf("mean %+v", r)
		}
	}
}

// Borders: an instant is in one interval, which contains it, and intervals begin at whole hours and days of the clock.
func TestBordersAreThoseOfTheClock(t *testing.T) {
	d := serve(t, 1, 400, 17*time.Minute, memory...)
	for _, clock := range []numbers.Clock{
		{Every: time.Hour},
		{Every: 24 * time.Hour, Offset: 2 * time.Hour},
		{Every: 24 * time.Hour, Offset: -9*time.Hour - 30*time.Minute},
		{Every: 7 * time.Minute},
	} {
		steps, last := uint64(0), time.Time{}
		for _, r := range rowsOf(t, collect(t, d, clock), numbers.Query{By: []string{}, Statistics: []string{"count"}}) {
			if r.End.Sub(r.Start) != clock.Every || r.Start.Before(last) ||
				r.Start.Add(clock.Offset).UnixMilli()%clock.Every.Milliseconds() != 0 {
				t.Errorf("%+v: %v to %v behind %v", clock, r.Start, r.End, last)
			}
			if clock.Every == 24*time.Hour && r.Start.Format("15:04") != "00:00" {
				t.Errorf("%+v: a day begins at %v", clock, r.Start)
			}
			steps, last = steps+r.Steps, r.End
		}
		if steps != 400 {
			t.Errorf("%+v: %d steps", clock, steps)
		}
	}
	c := collect(t, d, numbers.Clock{Every: time.Hour})
	from := time.UnixMilli(start).Add(30 * time.Minute) // 22:00
	all := numbers.Query{By: []string{}, Statistics: []string{"count"}}
	three, day := all, all
	three.From, three.To, day.Last = from, from.Add(3*time.Hour), 24*time.Hour
	rows := rowsOf(t, c, three)
	if len(rows) != 3 || !rows[0].Start.Equal(from) {
		t.Errorf("%d rows from %v", len(rows), rows[0].Start)
	}
	if rows = rowsOf(t, c, day); len(rows) != 24 {
		t.Errorf("%d hours in a day", len(rows))
	}
}

// What nothing is known about has no value, in every format.
func TestWhatIsNotKnownIsNoNumber(t *testing.T) {
	d := serve(t, 2, 40, time.Second, append([]string{"ORIEL_EPSILON=0.5"}, memory...)...)
	rows := rowsOf(t, collect(t, d, numbers.Clock{}), numbers.Query{Statistics: []string{"mean", "count", "p50"}})
	for _, r := range rows {
		if known := r.Statistic == "count"; math.IsNaN(r.Value) == known {
			t.Errorf("%+v", r)
		}
	}
	for _, format := range numbers.Formats {
		var out bytes.Buffer
		if err := numbers.Write(&out, format, d.names.Dimensions(), rows); err != nil {
			t.Fatal(err)
		}
		if n := bytes.Count(out.Bytes(), []byte(numbers.Nothing)); n != 12 && format != "parquet" {
			t.Errorf("%s: %d notes in\n%s", format, n, out.String())
		}
		if format != "parquet" {
			continue
		}
		type line struct {
			Start     time.Time `parquet:"start,timestamp(millisecond)"`
			Carrier   string    `parquet:"carrier"`
			Statistic string    `parquet:"statistic"`
			Value     *float64  `parquet:"value,optional"`
			Note      *string   `parquet:"note,optional"`
		}
		read, err := parquet.Read[line](bytes.NewReader(out.Bytes()), int64(out.Len()))
		if err != nil || len(read) != len(rows) {
			t.Fatalf("%d rows: %v", len(read), err)
		}
		for i, r := range read {
			if (r.Value == nil) != math.IsNaN(rows[i].Value) || r.Value != nil && *r.Value != rows[i].Value ||
				r.Carrier != rows[i].Places[0] || r.Statistic != rows[i].Statistic || (r.Note == nil) != (r.Value != nil) ||
				!r.Start.Equal(rows[i].Start) {
				t.Errorf("row %d: %+v, want %+v", i, r, rows[i])
			}
		}
	}
}

// Decisions that cannot be added up are refused, with what to do.
func TestWhatCannotBeAddedUpIsRefused(t *testing.T) {
	d := serve(t, 2, 4, time.Second, memory...)
	refused := func(what, text string) {
		t.Helper()
		c, err := numbers.NewCollector(d.names, numbers.Clock{Every: time.Hour})
		if err == nil {
			err = c.AddLines(strings.NewReader(text))
		}
		if err == nil || strings.Contains(err.Error(), "0.") {
			t.Errorf("%s: %v", what, err)
		}
	}
	line, _, _ := strings.Cut(string(d.lines), "\n")
	refused("twice", line+"\n"+line+"\n")
	refused("no decision", "{}\n")
	refused("no time", line[:strings.Index(line, `,"time"`)]+"}\n")
	refused("no increments", strings.Replace(line, "increments", "others", 1)+"\n")
	refused("few increments", strings.Replace(line, `"increments":[`, `"increments":[],"others":[`, 1)+"\n")
	for _, q := range []numbers.Query{
		{By: []string{"delay"}},
		{Statistics: []string{"p"}},
		{Statistics: []string{"median"}},
		{From: time.Now().AddDate(100, 0, 0)},
	} {
		if rows, err := collect(t, d, numbers.Clock{}).Rows(q); err == nil {
			t.Errorf("%+v: %d rows", q, len(rows))
		}
	}
	d = serve(t, 2, 4, time.Second, "ORIEL_MECHANISM=blt", "ORIEL_WINDOW=lifetime", "ORIEL_MEMORY=64")
	refused("no increments at all", string(d.lines))
}

// Whatever a file or a descriptor says, reading it ends, with an error or with rows that can be written.
func FuzzDecisions(f *testing.F) {
	const names = `{"cells":["a=x,b=1","a=x,b=2","other"],"statistics":["count","sum"],"views":[{"memory":4,"of":"s"}],"increments":["count","sum"],` +
		`"increment_deviations":[1,2],"emit_every":1,"value":{"column":"v","low":0,"high":1}}`
	const line = `{"stream":"0","incarnation":"ab0100000000000000000000000000ff","index":1,"step":1,"decision":[1],"mechanism":"blt",` +
		`"window":0,"batch":1,"epsilon":1,"delta":0,"adjacency":"replace","unit":"event","increments":[1,2,3,4,5,6],"window_deviation":[1,1.2],"time":5}`
	f.Add(names, line, int64(time.Hour))
	f.Add(names, line+"\n"+strings.Replace(line, `"step":1`, `"step":7`, 1), int64(0))
	f.Fuzz(func(t *testing.T, names, text string, every int64) {
		n, err := numbers.ParseNames([]byte(names))
		if err != nil {
			return
		}
		c, err := numbers.NewCollector(n, numbers.Clock{Every: time.Duration(every)})
		if err != nil || c.AddLines(strings.NewReader(text)) != nil {
			return
		}
		rows, err := c.Rows(numbers.Query{Total: true})
		if err != nil {
			return
		}
		for _, r := range rows {
			if math.IsInf(r.Value, 0) || math.IsInf(r.Low, 0) || math.IsInf(r.High, 0) || math.IsInf(r.Deviation, 0) {
				return
			}
		}
		for _, format := range numbers.Formats[:3] {
			if err := numbers.Write(&bytes.Buffer{}, format, n.Dimensions(), rows); err != nil {
				t.Fatal(err)
			}
		}
	})
}
