package experiment

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"oriel/cmd/internal/digits"
	"oriel/cmd/internal/eval"
	"oriel/operators"
)

// Report is the object that `oriel eval --json` prints for an experiment.
type Report struct {
	eval.Head
	Outcome string         `json:"outcome"`
	Control string         `json:"control"`
	Alpha   float64        `json:"alpha"`
	Reasons map[string]int `json:"null_reasons"`
	Rows    []Row          `json:"rows"`

	nulls string // the null events in words
}

// Row is the result of one setting.
type Row struct {
	eval.RowHead

	Arms []ArmFound `json:"arms"` // results, by stream, then by experiment, then by treatment arm

	ran []besides // experiments of the first stream
}

// besides is an experiment with seed 1, and the same without noise, which has the same looks and the true effects.
type besides struct{ private, exact *trial }

// ArmFound is one arm of an experiment of a stream.
type ArmFound struct {
	Stream       int           `json:"stream"`
	Number       int           `json:"experiment,omitempty"` // number of the experiment in its stream, from 1, if the stream has several
	Arm          string        `json:"arm"`
	Private      Sequence      `json:"private"` // state at the last look with seed 1; found_after is the median over the seeds that found the arm
	Found        int           `json:"found_seeds"`
	Unfit        int           `json:"unfit_seeds"` // number of seeds for which arms did not have the configured probabilities
	WithoutNoise Sequence      `json:"without_privacy"`
	Truth        digits.Number `json:"truth"` // mean of the arm minus the control's, over all events of the experiment
	Peeking      Sequence      `json:"peeking_without_privacy"`
	Back         int           `json:"peeking_back_looks"` // number of looks at which the analyst who peeks no longer found the arm
}

// Sequence is an effect with its band at the last look, and the number of events when it was found, null if it was
// never found.
type Sequence struct {
	Effect     digits.Number `json:"effect"`
	Low        digits.Number `json:"low"`
	High       digits.Number `json:"high"`
	FoundAfter digits.Number `json:"found_after"`
}

func newReport(in eval.Input, all []*eval.Entry[*machine], events, streams int) (r *Report, err error) {
	exact := all[0].Exact
	of := exact.of
	r = &Report{Outcome: of.Outcome, Control: of.Arms[0], Alpha: of.Alpha}
	if r.Head, r.Reasons, r.nulls, err = eval.NewHead(in, exact.Runner, events, streams); err != nil {
		return nil, err
	}
	for _, e := range all {
		row, looks := Row{RowHead: e.Head}, 0
		for stream := range streams {
			for index, t := range e.Exact.ran[stream] {
				looks += len(t.path)
				for arm := range e.Exact.of.Arms[1:] {
					row.Arms = append(row.Arms, armFound(e, stream, index, arm))
				}
			}
		}
		if looks == 0 {
			return nil, fmt.Errorf("no look: %d events, and the first look of an experiment has %s events in whole steps; "+
				"it starts with step %d (ORIEL_EXPERIMENT_STEP)", events, digits.Four(of.Looks), of.First)
		}
		for index, t := range e.Private[0].ran[0] {
			row.ran = append(row.ran, besides{t, e.Exact.ran[0][index]})
		}
		r.Rows = append(r.Rows, row)
	}
	return r, nil
}

// armFound returns the result of a treatment arm, the arm-th after the control, in an experiment of a stream.
func armFound(e *eval.Entry[*machine], stream, index, arm int) ArmFound {
	of := e.Exact.of
	exact := e.Exact.ran[stream][index]
	a := ArmFound{Stream: stream, Arm: of.Arms[arm+1], Truth: digits.None, Back: exact.peek[arm].back}
	if len(of.Steps) > 1 {
		a.Number = index + 1
	}
	if treated, control := exact.arms[arm+1], exact.arms[0]; treated.n > 0 && control.n > 0 {
		a.Truth = digits.Number(treated.sum/treated.n - control.sum/control.n)
	}
	a.Private, a.WithoutNoise = e.Private[0].ran[stream][index].sequence(arm), exact.sequence(arm)
	a.Peeking = newSequence(exact.peek[arm].now, exact.peek[arm].first)
	var found []float64
	for _, x := range e.Private {
		t := x.ran[stream][index]
		if t.last.Unfit(of) {
			a.Unfit++
		}
		if t.found[arm] > 0 {
			found = append(found, t.found[arm])
		}
	}
	a.Found, a.Private.FoundAfter = len(found), digits.None
	if slices.Sort(found); found != nil {
		a.Private.FoundAfter = digits.Number(found[len(found)/2])
	}
	return a
}

func (t *trial) sequence(arm int) Sequence {
	if len(t.last.Effects) == 0 {
		return newSequence(operators.Estimate{}, 0)
	}
	return newSequence(t.last.Effects[arm].Estimate, t.found[arm])
}

func newSequence(e operators.Estimate, found float64) Sequence {
	s := Sequence{digits.None, digits.None, digits.None, digits.None}
	if e.Shown {
		s.Effect, s.Low, s.High = digits.Number(e.Value), digits.Number(e.Low), digits.Number(e.High)
	}
	if found > 0 {
		s.FoundAfter = digits.Number(found)
	}
	return s
}

// Print prints the report as readable text.
func (r *Report) Print(out io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%d events in %s, %s: effects of arms on the mean of %s, against arm %s, after all events. With probability %s %%\n"+
		"the bands of private rows hold at all looks together, whatever stops the experiment.\n\n", r.Events, digits.Counted(r.Streams, "stream"),
		digits.Counted(r.Seeds, "seed"), r.Outcome, r.Control, digits.Four(100*(1-r.Alpha)))
	r.printRows(&b)
	if r.Null > 0 {
		fmt.Fprintf(&b, "null events, which count in no arm: %d%s\n", r.Null, r.nulls)
	}
	b.WriteString("\nfound after: events at the first look whose verdict named the arm; several seeds have their median. Not shown never means that\n" +
		"there is no difference. Without privacy is the same experiment over sums without noise, and the truth the difference of the\n" +
		"means of all events. Peeking takes each look for the only one, 1.96 standard errors without privacy: it is here to be\n" +
		"compared, and no test, because most experiments without any effect look significant at some time.\n")
	fmt.Fprintf(&b, "\n%s\n", eval.Warning)
	_, err := io.WriteString(out, b.String())
	return err
}

func (r *Report) printRows(out io.Writer) {
	var table eval.Table
	table.Add("", "ε", "arm", "effect", "from", "to", "found after", "seeds")
	line := func(name, epsilon, arm string, s Sequence, after, seeds string) {
		table.Add(name, epsilon, arm, digits.Four(s.Effect), digits.Four(s.Low), digits.Four(s.High), after, seeds)
	}
	for _, row := range r.Rows {
		for _, a := range row.Arms {
			arm := r.named(a)
			after, found := a.Private.after(), fmt.Sprintf("%d of %d", a.Found, r.Seeds)
			if a.Unfit > 0 {
				after, found = "arms do not fit", fmt.Sprintf("%d of %d", a.Unfit, r.Seeds)
			}
			line(row.Name, digits.Upper(row.Epsilon), arm, a.Private, after, found)
		}
	}
	for _, a := range r.Rows[0].Arms {
		arm := r.named(a)
		back := ""
		if a.Back > 0 {
			back = "and lost at " + digits.Counted(a.Back, "look")
		}
		line("without privacy", "", arm, a.WithoutNoise, a.WithoutNoise.after(), "")
		line("peeking", "", arm, a.Peeking, a.Peeking.after(), back)
		line("truth", "", arm, Sequence{a.Truth, digits.None, digits.None, digits.None}, "", "")
	}
	table.Print(out)
}

// named returns the name of an arm. It adds the stream and the experiment if there are several.
func (r *Report) named(a ArmFound) string {
	name := a.Arm
	if r.Streams > 1 {
		name += ", stream " + strconv.Itoa(a.Stream)
	}
	if a.Number > 0 {
		name += ", experiment " + strconv.Itoa(a.Number)
	}
	return name
}

func (s Sequence) after() string {
	if !s.FoundAfter.Known() {
		return "not shown"
	}
	return strconv.FormatFloat(math.Round(float64(s.FoundAfter)), 'f', 0, 64)
}
