package numbers

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"oriel/operators"
	"oriel/schemas/decision"
	"oriel/schemas/text"
)

// Effects keeps, for each interval of the clock, the newest decision of each experiment of each stream. Decisions are
// not added up, because a confidence sequence already covers the whole experiment so far.
type Effects struct {
	of      *operators.Experiment
	clock   Clock
	last    map[stream]uint64
	courses map[stream]*course
	newest  map[int64]map[turn]operators.Findings
	first   int64 // time of the earliest decision, ms
	latest  int64
	times
}

// turn is one of the experiments that a stream runs one after another.
type turn struct {
	stream
	number uint64
}

func (t turn) compare(other turn) int {
	return cmp.Or(t.stream.compare(other.stream), cmp.Compare(t.number, other.number))
}

// errNoExperiment reports a descriptor without an experiment.
var errNoExperiment = errors.New("no experiment: a new deployment with ORIEL_ALWAYS_VALID and ORIEL_PROPENSITIES has one, and shows effects")

// NewEffects parses a descriptor as ParseNames does.
func NewEffects(descriptor []byte, clock Clock) (*Effects, error) {
	if _, err := ParseNames(descriptor); err != nil {
		return nil, err
	}
	lines := strings.Split(strings.TrimSpace(string(descriptor)), "\n")
	var d struct{ Experiment *operators.Experiment }
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &d); err != nil {
		return nil, fmt.Errorf("%w: experiment", errNames)
	}
	if d.Experiment == nil {
		return nil, errNoExperiment
	}
	if len(d.Experiment.Arms) < 2 {
		return nil, fmt.Errorf("%w: an experiment of %d arms", errNames, len(d.Experiment.Arms))
	}
	return &Effects{
		of: d.Experiment, clock: clock, last: map[stream]uint64{}, first: math.MaxInt64, latest: math.MinInt64,
		times: times{}, newest: map[int64]map[turn]operators.Findings{}, courses: map[stream]*course{},
	}, nil
}

// Add takes a decision and the decision's time, ms. Decisions of a stream must come in order.
func (e *Effects) Add(d decision.Decision, ms int64) error {
	of := stream{d.Stream, d.Incarnation}
	if last, ok := e.last[of]; ok && d.Step <= last {
		return fmt.Errorf("stream %q: step %d behind step %d: decisions come in their order, and once", d.Stream, d.Step, last)
	}
	f, err := e.of.Read(d)
	if err != nil {
		return fmt.Errorf("stream %q, step %d: %w", d.Stream, d.Step, err)
	}
	e.last[of] = d.Step
	follow(e.courses, of, ms)
	key := e.clock.key(ms)
	if e.newest[key] == nil {
		e.newest[key] = map[turn]operators.Findings{}
	}
	e.newest[key][turn{of, f.Number}] = f
	e.first, e.latest = min(e.first, ms), max(e.latest, ms)
	e.times[of] = append(e.times[of], ms)
	return nil
}

// Mixed is Collector.Mixed.
func (e *Effects) Mixed() time.Duration { return e.clock.mixed(e.courses) }

// AddLines takes decisions from a file.
func (e *Effects) AddLines(r io.Reader) error { return addLines(r, e.Add) }

func (s stream) compare(other stream) int {
	return cmp.Or(strings.Compare(s.name, other.name), bytes.Compare(s.incarnation[:], other.incarnation[:]))
}

// EffectRow is the state of an arm at the end of an interval.
type EffectRow struct {
	Start, End time.Time
	Stream     string
	Events     float64 // number of events of the experiment so far
	Arm        string
	Effect     operators.Effect // effect of the arm; zero for the control
	Mean       operators.Estimate
	Verdict    string
	Stop       bool
	Number     uint64 // number of the experiment in its stream, from 1
	First      uint64 // first step of the experiment
}

// Rows returns the rows of the intervals that a query selects: by interval, stream, experiment and arm. It uses only
// the fields Last, From and To of the query.
func (e *Effects) Rows(q Query) (rows []EffectRow, err error) {
	newest, _ := e.times.newest(q.Last)
	for _, key := range slices.Sorted(maps.Keys(e.newest)) {
		start, end := e.clock.bounds(key, e.first, e.latest)
		if !q.holds(e.clock, start, end, newest) {
			continue
		}
		for _, of := range slices.SortedFunc(maps.Keys(e.newest[key]), turn.compare) {
			f := e.newest[key][of]
			for k, arm := range e.of.Arms {
				row := EffectRow{
					Start: start, End: end, Stream: of.name, Events: f.Events, Arm: arm, Mean: f.Means[k], Verdict: f.Verdict,
					Stop: f.StopAllowed, Number: f.Number, First: f.First,
				}
				if k > 0 {
					row.Effect = f.Effects[k-1]
				}
				rows = append(rows, row)
			}
		}
	}
	if rows == nil {
		return nil, errNothing
	}
	return rows, nil
}

// EffectFormats lists the formats in which effects can be written.
var EffectFormats = []string{"table", "csv", "json"}

// cells returns the cells of a row, in the order of effectHeader.
func (r EffectRow) cells() []any {
	ends := func(e operators.Estimate) []any {
		if !e.Shown {
			return []any{nil, nil, nil}
		}
		return []any{e.Value, e.Low, e.High}
	}
	cells := []any{r.Start.Format(instant), r.End.Format(instant), r.Stream, r.Events, r.Arm}
	cells = append(cells, ends(r.Effect.Estimate)...)
	cells = append(append(cells, ends(r.Effect.Lift)...), ends(r.Mean)...)
	if r.Effect.Shown {
		cells = append(cells, r.Effect.E, r.Effect.P)
	} else {
		cells = append(cells, nil, nil)
	}
	return append(cells, r.Verdict, r.Stop, float64(r.Number), float64(r.First))
}

var effectHeader = []string{
	"start", "end", "stream", "events", "arm", "effect", "effect_low", "effect_high", "lift", "lift_low", "lift_high",
	"mean", "mean_low", "mean_high", "e", "p", "verdict", "stop_allowed", "experiment", "experiment_step",
}

// Write writes rows in one of EffectFormats. A missing number is empty in text, and null in JSON.
func (e *Effects) Write(w io.Writer, format string, rows []EffectRow) error {
	switch format {
	case "csv":
		return writeEffectsCSV(w, rows)
	case "json":
		return writeEffectsJSON(w, rows)
	}
	return e.writeTable(w, rows)
}

func writeEffectsCSV(w io.Writer, rows []EffectRow) error {
	out := csv.NewWriter(w)
	if err := out.Write(effectHeader); err != nil {
		return err
	}
	for _, r := range rows {
		var line []string
		for _, cell := range r.cells() {
			line = append(line, cellText(cell))
		}
		if err := out.Write(line); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// text formats a cell for CSV.
func cellText(cell any) string {
	switch x := cell.(type) {
	case string:
		return x
	case bool:
		return strconv.FormatBool(x)
	case float64:
		if !math.IsInf(x, 0) {
			return string(text.AppendFloat(nil, x))
		}
	}
	return ""
}

func writeEffectsJSON(w io.Writer, rows []EffectRow) error {
	var line []byte
	for _, r := range rows {
		line = append(line[:0], '{')
		for i, cell := range r.cells() {
			if i > 0 {
				line = append(line, ',')
			}
			line = append(text.AppendString(line, effectHeader[i]), ':')
			switch x := cell.(type) {
			case string:
				line = text.AppendString(line, x)
			default:
				if value := cellText(x); value != "" {
					line = append(line, value...)
				} else {
					line = append(line, "null"...)
				}
			}
		}
		if _, err := w.Write(append(line, "}\n"...)); err != nil {
			return err
		}
	}
	return nil
}

func (e *Effects) writeTable(w io.Writer, rows []EffectRow) error {
	out := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintf(out, "end\tstream\texperiment\tevents\tarm\teffect\tband at %.6g %%\tmean %s\tverdict\n", 100*(1-e.of.Alpha), e.of.Outcome)
	number := func(x operators.Estimate) (value, band string) {
		if !x.Shown {
			return "-", "-"
		}
		return fmt.Sprintf("%.6g", x.Value), fmt.Sprintf("%.6g to %.6g", x.Low, x.High)
	}
	for k, r := range rows {
		effect, band := number(r.Effect.Estimate)
		mean, _ := number(r.Mean)
		verdict := ""
		if k%len(e.of.Arms) == 0 {
			verdict = r.Verdict
		}
		_, _ = fmt.Fprintf(out, "%s\t%s\t%d\t%.0f\t%s\t%s\t%s\t%s\t%s\n", r.End.Format(instant), r.Stream, r.Number, r.Events,
			r.Arm, effect, band, mean, verdict)
	}
	return out.Flush()
}
