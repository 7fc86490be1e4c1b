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
	"oriel/operators"
	"oriel/pipeline/kafka/fetch"
	"oriel/pipeline/kafka/records"
	"oriel/pipeline/streams"
	"oriel/schemas"
)

// deployment is a stream of aggregate: its decisions as lines, and the events that it consumed.
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

// start is 2026-01-31 21:30 UTC: a day and a month end soon after it.
const start = 1769895000000

// serve runs events through a stream with its own seed, one event a step. `apart` is the time between consecutive
// events.
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

// memory has settings under which decisions have increments.
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

// TestPerStepReleasesAddUp checks that per-step releases add up, with independent noise.
func TestPerStepReleasesAddUp(t *testing.T) {
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
		if r.Statistic == "mean" && !(r.Low < 59.5 && 59.5 < r.High) { // values are uniform from −40 to 159
			t.Errorf("mean %+v", r)
		}
	}
}

// TestBordersAreThoseOfTheClock checks that each time is in exactly one interval, which contains it, and that intervals
// begin at whole hours and days of the clock.
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
	from := time.UnixMilli(start).Add(30 * time.Minute) // 22:00 in local time
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

// TestUnknownNumbersAreEmpty checks that an unknown number has no value in any format.
func TestUnknownNumbersAreEmpty(t *testing.T) {
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

// TestWhatCannotBeAddedUpIsRefused checks that decisions that cannot be added up are refused, with advice.
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

// FuzzDecisions checks that any file and descriptor give an error, or rows that can be written.
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
