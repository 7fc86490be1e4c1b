package numbers_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"

	"oriel/cmd/internal/numbers"
	"oriel/cmd/internal/numbers/clock"
	"oriel/cmd/internal/replay"
	"oriel/cmd/internal/settings"
	"oriel/operators"
	"oriel/pipeline/kafka/fetch"
	"oriel/pipeline/kafka/records"
	"oriel/pipeline/streams"
	"oriel/schemas/text"
)

// deployment is a stream of aggregate: its decisions as lines, and the events that it consumed.
type deployment struct {
	names *numbers.Names
	lines []byte
	rows  []row

	together int // number of events of a decision, a power of two
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
	m := s.Model()
	stream, err := replay.Open(m, replay.Options{Seed: fmt.Sprintf("%064x", seed+1)})
	if err != nil {
		t.Fatal(err)
	}
	d := deployment{together: 2}
	if d.names, err = numbers.ParseNames(operators.DescriptorOf(m.Learner.Operator())); err != nil {
		t.Fatal(err)
	}
	walk := streams.Walk{
		Stream: stream, Taken: func(*records.Record, int64, text.Code) {},
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

func collect(t *testing.T, d deployment, clock clock.Clock) *numbers.Collector {
	t.Helper()
	c, err := numbers.NewCollector(d.names, clock)
	if err != nil {
		t.Fatal(err)
	}
	if err := numbers.AddLines(c, bytes.NewReader(d.lines)); err != nil {
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
	d := serve(t, 7, 480, time.Minute, "ORIEL_MECHANISM=once-gaussian", "ORIEL_BATCH=16", "ORIEL_BINS=",
		"ORIEL_STATISTICS=count,sum,mean")
	c := collect(t, d, clock.Clock{})
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
	for _, clock := range []clock.Clock{
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
	c := collect(t, d, clock.Clock{Every: time.Hour})
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
	rows := rowsOf(t, collect(t, d, clock.Clock{}), numbers.Query{Statistics: []string{"mean", "count", "p50"}})
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
		if n := bytes.Count(out.Bytes(), []byte(numbers.Few)); n != 12 && format != "parquet" {
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

// TestFormatsReadBackEqual writes numbers that are 0, −0, unknown or beyond a float64's range, in the places that a
// writer could take for absent. Each format must have the same columns in the same order, and the same numbers in them.
func TestFormatsReadBackEqual(t *testing.T) {
	unknown, at := math.NaN(), time.UnixMilli(0).UTC()
	numbersOf := [][4]float64{
		{0, 0, 7.5, 0},
		{math.Copysign(0, -1), -0.1, 0, 5e-324},
		{unknown, 0, unknown, unknown},
		{unknown, unknown, unknown, unknown},
		{math.MaxFloat64, -math.MaxFloat64, 1, unknown},
	}
	dimensions := []string{"zone", "value", "area"} // one has the name of another column
	header := []string{
		"start", "end", "zone", "cell_value", "area", "statistic", "value", "low", "high", "deviation", "steps", "note",
	}
	var rows []numbers.Row
	for k, x := range numbersOf {
		rows = append(rows, numbers.Row{
			Start: at, End: at.Add(time.Hour), Places: []string{"", "0", "NA"}, Steps: uint64(k), Statistic: "mean",
			Number: numbers.Number{Value: x[0], Low: x[1], High: x[2], Deviation: x[3]},
		})
	}
	for _, format := range []string{"csv", "json", "parquet"} {
		var out bytes.Buffer
		if err := numbers.Write(&out, format, dimensions, rows); err != nil {
			t.Fatal(err)
		}
		names, table := readBack(t, format, out.Bytes())
		if !slices.Equal(names, header) || len(table) != len(rows) {
			t.Fatalf("%s: columns %q of %d rows", format, names, len(table))
		}
		for k, line := range table {
			want := []any{int64(0), int64(3600_000), "", "0", "NA", "mean", nil, nil, nil, nil, float64(k), nil}
			for i, x := range numbersOf[k] {
				if !math.IsNaN(x) {
					want[6+i] = x
				}
			}
			if want[6] == nil {
				want[11] = numbers.Few
			}
			if !slices.Equal(line, want) { // 0 equals −0
				t.Errorf("%s, row %d: %v, want %v", format, k, line, want)
			}
		}
	}
}

// readBack reads a table: times in ms, numbers, texts, and nil for what is absent.
func readBack(t *testing.T, format string, text []byte) (names []string, table [][]any) {
	t.Helper()
	parsed := func(name, value string) any {
		if name == "start" || name == "end" {
			at, err := time.Parse(time.RFC3339, value)
			if err != nil {
				t.Fatal(err)
			}
			return at.UnixMilli()
		}
		if slices.Contains([]string{"value", "low", "high", "deviation", "steps"}, name) && value != "" {
			x, err := strconv.ParseFloat(value, 64)
			if err != nil {
				t.Fatal(err)
			}
			return x
		}
		if value == "" && !slices.Contains([]string{"zone", "cell_value", "area"}, name) {
			return nil
		}
		return value
	}
	switch format {
	case "csv":
		lines, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range lines[1:] {
			var row []any
			for i, value := range line {
				row = append(row, parsed(lines[0][i], value))
			}
			table = append(table, row)
		}
		return lines[0], table
	case "json":
		for line := range bytes.Lines(text) {
			var row []any
			names = nil
			for d := json.NewDecoder(bytes.NewReader(line)); ; {
				token, err := d.Token()
				if err != nil {
					break
				}
				name, is := token.(string)
				if !is {
					continue // the brackets of the object
				}
				var value any
				if err := d.Decode(&value); err != nil {
					t.Fatal(err)
				}
				if text, is := value.(string); is {
					value = parsed(name, text)
				}
				names, row = append(names, name), append(row, value)
			}
			if len(row) == 11 { // a note is there only where there is something to say
				names, row = append(names, "note"), append(row, nil)
			}
			table = append(table, row)
		}
		return names, table
	}
	file, err := parquet.OpenFile(bytes.NewReader(text), int64(len(text)))
	if err != nil {
		t.Fatal(err)
	}
	for _, column := range file.Root().Columns() {
		names = append(names, column.Name())
	}
	groups := file.RowGroups()
	read := make([]parquet.Row, 16)
	rows := groups[0].Rows()
	n, err := rows.ReadRows(read)
	if err != nil && !errors.Is(err, io.EOF) || len(groups) != 1 {
		t.Fatalf("%d groups: %v", len(groups), err)
	}
	for _, values := range read[:n] {
		var row []any
		for i, v := range values {
			switch {
			case v.IsNull():
				row = append(row, nil)
			case v.Kind() == parquet.Double:
				row = append(row, v.Double())
			case names[i] == "steps":
				row = append(row, float64(v.Uint64()))
			case v.Kind() == parquet.Int64:
				row = append(row, v.Int64())
			default:
				row = append(row, string(v.ByteArray()))
			}
		}
		table = append(table, row)
	}
	return names, table
}

// TestZeroAndOverflowAreNumbersLikeOthers checks sums of −0, whose sign no format keeps, and sums that overflow, which
// are unknown. Both come from decisions.
func TestZeroAndOverflowAreNumbersLikeOthers(t *testing.T) {
	d := serve(t, 2, 4, time.Second, append([]string{"ORIEL_CELLS=carrier=UA"}, memory...)...)
	one := func(number string) numbers.Number {
		list := regexp.MustCompile(`"increments":\[[^\]]*\]`).ReplaceAllFunc(d.lines, func(list []byte) []byte {
			count := bytes.Count(list, []byte(",")) + 1
			return []byte(`"increments":[` + strings.TrimSuffix(strings.Repeat(number+",", count), ",") + "]")
		})
		c, err := numbers.NewCollector(d.names, clock.Clock{})
		if err == nil {
			err = numbers.AddLines(c, bytes.NewReader(list))
		}
		if err != nil {
			t.Fatal(err)
		}
		return rowsOf(t, c, numbers.Query{Statistics: []string{"count"}})[0].Number
	}
	if n := one("-0"); n.Value != 0 || math.Signbit(n.Value) || !(n.Low < 0 && n.High > 0) {
		t.Errorf("sums of −0: %+v", n)
	}
	if n := one("1.7e308"); !math.IsNaN(n.Value) || !math.IsNaN(n.Low) || !math.IsNaN(n.High) {
		t.Errorf("sums that overflow: %+v", n)
	}
}

// TestNoteIsTrueOfManyEvents checks the note of a mean whose count is clearly above 0, but at most 12 deviations: it
// must not say that there are no events.
func TestNoteIsTrueOfManyEvents(t *testing.T) {
	d := serve(t, 3, 400, time.Second, append([]string{"ORIEL_EPSILON=3"}, memory...)...)
	rows := rowsOf(t, collect(t, d, clock.Clock{}), numbers.Query{By: []string{}, Statistics: []string{"count", "mean"}})
	if rows[0].Low < 100 || !math.IsNaN(rows[1].Value) {
		t.Fatalf("count %+v and mean %+v: the case is another", rows[0].Number, rows[1].Number)
	}
	var out bytes.Buffer
	if err := numbers.Write(&out, "table", d.names.Dimensions(), rows); err != nil {
		t.Fatal(err)
	}
	text := out.String()
	if !strings.Contains(text, "too few events for the noise") || strings.Contains(text, "no events") {
		t.Error(text)
	}
}

// TestWhatCannotBeAddedUpIsRefused checks that decisions that cannot be added up are refused, with advice.
func TestWhatCannotBeAddedUpIsRefused(t *testing.T) {
	d := serve(t, 2, 4, time.Second, memory...)
	refused := func(what, text string) {
		t.Helper()
		c, err := numbers.NewCollector(d.names, clock.Clock{Every: time.Hour})
		if err == nil {
			err = numbers.AddLines(c, strings.NewReader(text))
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
		if rows, err := collect(t, d, clock.Clock{}).Rows(q); err == nil {
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
	const steps = `{"cells":["a=x"],"statistics":["count","sum"],"views":[{"of":"the events of the step"}],"emit_every":1,` +
		`"value":{"column":"v","low":0,"high":1}}`
	const step = `{"stream":"all","incarnation":"ab0100000000000000000000000000ff","index":9,"step":9,"decision":[1,2],` +
		`"mechanism":"once-laplace","window":0,"batch":0,"epsilon":1,"delta":0,"adjacency":"add-remove","unit":"event",` +
		`"count_deviation":[1],"sum_deviation":[2],"seconds":3600,"time":36000000}`
	f.Add(steps, step, int64(time.Hour))
	f.Fuzz(func(t *testing.T, names, text string, every int64) {
		n, err := numbers.ParseNames([]byte(names))
		if err != nil {
			return
		}
		c, err := numbers.NewCollector(n, clock.Clock{Every: time.Duration(every)})
		if err != nil || numbers.AddLines(c, strings.NewReader(text)) != nil {
			return
		}
		rows, err := c.Rows(numbers.Query{Total: true})
		if err != nil {
			return
		}
		for _, format := range numbers.Formats {
			if err := numbers.Write(&bytes.Buffer{}, format, n.Dimensions(), rows); err != nil {
				t.Fatal(err)
			}
		}
	})
}
