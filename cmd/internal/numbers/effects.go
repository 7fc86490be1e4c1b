package numbers

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"oriel/cmd/internal/numbers/clock"
	"oriel/operators"
	"oriel/schemas/decision"
)

// Effects keeps, for each interval of the clock, the newest decision of each experiment of each stream. Decisions are
// not added up, because a confidence sequence already covers the whole experiment so far.
type Effects struct {
	*clock.Arrivals
	of     *operators.Experiment
	newest map[int64]map[experimentKey]operators.Findings
}

// experimentKey is one of the experiments that a stream runs one after another.
type experimentKey struct {
	clock.Stream
	number uint64
}

func (t experimentKey) compare(other experimentKey) int {
	return cmp.Or(t.Compare(other.Stream), cmp.Compare(t.number, other.number))
}

// errNoExperiment reports a descriptor without an experiment.
var errNoExperiment = errors.New("no experiment: a new deployment with ORIEL_ALWAYS_VALID and ORIEL_PROPENSITIES has one, and shows effects")

// NewEffects parses a descriptor as ParseNames does.
func NewEffects(descriptor []byte, by clock.Clock) (*Effects, error) {
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
		Arrivals: clock.NewArrivals(by), of: d.Experiment, newest: map[int64]map[experimentKey]operators.Findings{},
	}, nil
}

// Add takes a decision and the decision's time, ms. Decisions of a stream must come in order.
func (e *Effects) Add(d decision.Decision, ms int64) error {
	if err := e.Check(d); err != nil {
		return err
	}
	f, err := e.of.Read(d)
	var key int64
	if err == nil {
		key, err = e.Interval(d, ms)
	}
	if err != nil {
		return fmt.Errorf("stream %q, step %d: %w", d.Stream, d.Step, err)
	}
	e.Follow(d, ms)
	of := experimentKey{clock.StreamOf(d), f.Number}
	if e.newest[key] == nil {
		e.newest[key] = map[experimentKey]operators.Findings{}
	}
	e.newest[key][of] = f
	return nil
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
	newest, _ := e.Newest(q.Last)
	for _, key := range slices.Sorted(maps.Keys(e.newest)) {
		start, end := e.Bounds(key)
		if !q.holds(e.Clock, start, end, newest) {
			continue
		}
		for _, of := range slices.SortedFunc(maps.Keys(e.newest[key]), experimentKey.compare) {
			f := e.newest[key][of]
			for k, arm := range e.of.Arms {
				row := EffectRow{
					Start: start, End: end, Stream: of.Name, Events: f.Events, Arm: arm, Mean: f.Means[k], Verdict: f.Verdict,
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
	known := func(shown bool, numbers ...float64) (cells []any) {
		for _, x := range numbers {
			if !shown {
				x = math.NaN()
			}
			cells = append(cells, x)
		}
		return cells
	}
	ends := func(e operators.Estimate) []any { return known(e.Shown, e.Value, e.Low, e.High) }
	return slices.Concat([]any{r.Start, r.End, r.Stream, r.Events, r.Arm}, ends(r.Effect.Estimate), ends(r.Effect.Lift),
		ends(r.Mean), known(r.Effect.Shown, r.Effect.E, r.Effect.P), []any{r.Verdict, r.Stop, r.Number, r.First})
}

var effectHeader = []string{
	"start", "end", "stream", "events", "arm", "effect", "effect_low", "effect_high", "lift", "lift_low", "lift_high",
	"mean", "mean_low", "mean_high", "e", "p", "verdict", "stop_allowed", "experiment", "experiment_step",
}

// Write writes the rows of a query in one of EffectFormats. A missing number is empty in text, and null in JSON.
func (e *Effects) Write(w io.Writer, format string, q Query) error {
	rows, err := e.Rows(q)
	switch {
	case err != nil:
		return err
	case format == "csv":
		return writeCSV(w, effectHeader, rows)
	case format == "json":
		return writeJSON(w, effectHeader, rows)
	}
	return e.writeTable(w, rows)
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
		_, _ = fmt.Fprintf(out, "%s\t%s\t%d\t%.0f\t%s\t%s\t%s\t%s\t%s\n", r.End.Format(clock.Instant),
			r.Stream, r.Number, r.Events, r.Arm, effect, band, mean, verdict)
	}
	return out.Flush()
}
