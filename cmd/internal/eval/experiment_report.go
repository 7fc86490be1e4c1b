package eval

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"oriel/cmd/internal/digits"
	"oriel/operators"
)

// ExperimentReport is the object that `oriel eval --json` prints for an experiment.
type ExperimentReport struct {
	head
	Outcome string          `json:"outcome"`
	Control string          `json:"control"`
	Alpha   float64         `json:"alpha"`
	Reasons map[string]int  `json:"null_reasons"`
	Rows    []ExperimentRow `json:"rows"`

	first string // description of the first null event
}

// ExperimentRow is the result of one setting.
type ExperimentRow struct {
	rowHead

	Arms []ArmFound `json:"arms"` // results, by stream, then by experiment, then by treatment arm

	ran []besides // experiments of the first stream
}

// besides is an experiment with seed 1, and the same without noise, which has the same looks and the true effects.
type besides struct{ private, exact *trial }

// ArmFound is one arm of an experiment of a stream.
type ArmFound struct {
	Stream       int      `json:"stream"`
	Number       int      `json:"experiment,omitempty"` // number of the experiment in its stream, from 1, if the stream has several
	Arm          string   `json:"arm"`
	Private      Sequence `json:"private"` // state at the last look with seed 1; found_after is the median over the seeds that found the arm
	Found        int      `json:"found_seeds"`
	Unfit        int      `json:"unfit_seeds"` // number of seeds for which arms did not have the configured probabilities
	WithoutNoise Sequence `json:"without_privacy"`
	Truth        Number   `json:"truth"` // mean of the arm minus the control's, over all events of the experiment
	Peeking      Sequence `json:"peeking_without_privacy"`
	Back         int      `json:"peeking_back_looks"` // number of looks at which the analyst who peeks no longer found the arm
}

// Sequence is an effect with its band at the last look, and the number of events when it was found, null if it was
// never found.
type Sequence struct {
	Effect     Number `json:"effect"`
	Low        Number `json:"low"`
	High       Number `json:"high"`
	FoundAfter Number `json:"found_after"`
}

func newExperimentReport(in Input, all []*contest, events, streams int) (*ExperimentReport, error) {
	of, exact := all[0].of, all[0].exact
	r := &ExperimentReport{
		head:    head{Warning: Warning, Events: events, Streams: streams, Seeds: in.Seeds},
		Outcome: of.Outcome, Control: of.Arms[0], Alpha: of.Alpha, Reasons: map[string]int{}, first: exact.first,
	}
	if r.Null = exact.countNull(r.Reasons); r.Null == r.Events {
		return nil, noEvents("no event counts", r.Null, reasons(r.Reasons, r.first))
	}
	for _, c := range all {
		looks := 0
		for stream := range streams {
			for turn, t := range c.exact.ran[stream] {
				looks += len(t.path)
				for arm := range c.of.Arms[1:] {
					c.row.Arms = append(c.row.Arms, c.armFound(stream, turn, arm))
				}
			}
		}
		if looks == 0 {
			return nil, fmt.Errorf("no look: %d events, and the first look of an experiment has %s events in whole steps; "+
				"it starts with step %d (ORIEL_EXPERIMENT_STEP)", events, digits.Four(c.of.Looks), c.of.First)
		}
		for turn, t := range c.private[0].ran[0] {
			c.row.ran = append(c.row.ran, besides{t, c.exact.ran[0][turn]})
		}
		r.Rows = append(r.Rows, c.row)
	}
	return r, nil
}

// armFound returns the result of a treatment arm, the arm-th after the control, in an experiment of a stream.
func (c *contest) armFound(stream, turn, arm int) ArmFound {
	exact := c.exact.ran[stream][turn]
	a := ArmFound{Stream: stream, Arm: c.of.Arms[arm+1], Truth: none, Back: exact.peek[arm].back}
	if len(c.of.Steps) > 1 {
		a.Number = turn + 1
	}
	if treated, control := exact.arms[arm+1], exact.arms[0]; treated.n > 0 && control.n > 0 {
		a.Truth = Number(treated.sum/treated.n - control.sum/control.n)
	}
	a.Private, a.WithoutNoise = c.private[0].ran[stream][turn].sequence(arm), exact.sequence(arm)
	a.Peeking = newSequence(exact.peek[arm].now, exact.peek[arm].first)
	var found []float64
	for _, x := range c.private {
		t := x.ran[stream][turn]
		if t.last.Unfit(c.of) {
			a.Unfit++
		}
		if t.found[arm] > 0 {
			found = append(found, t.found[arm])
		}
	}
	a.Found, a.Private.FoundAfter = len(found), none
	if slices.Sort(found); found != nil {
		a.Private.FoundAfter = Number(found[len(found)/2])
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
	s := Sequence{none, none, none, none}
	if e.Shown {
		s.Effect, s.Low, s.High = Number(e.Value), Number(e.Low), Number(e.High)
	}
	if found > 0 {
		s.FoundAfter = Number(found)
	}
	return s
}

// Print prints the report as readable text.
func (r *ExperimentReport) Print(out io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%d events in %s, %s: effects of arms on the mean of %s, against arm %s, after all events. With probability %s %%\n"+
		"the bands of private rows hold at all looks together, whatever stops the experiment.\n\n", r.Events, digits.Counted(r.Streams, "stream"),
		digits.Counted(r.Seeds, "seed"), r.Outcome, r.Control, digits.Four(100*(1-r.Alpha)))
	r.printRows(&b)
	if r.Null > 0 {
		fmt.Fprintf(&b, "null events, which count in no arm: %d%s\n", r.Null, reasons(r.Reasons, r.first))
	}
	b.WriteString("\nfound after: events at the first look whose verdict named the arm; several seeds have their median. Not shown never means that\n" +
		"there is no difference. Without privacy is the same experiment over sums without noise, and the truth the difference of the\n" +
		"means of all events. Peeking takes each look for the only one, 1.96 standard errors without privacy: it is here to be\n" +
		"compared, and no test, because most experiments without any effect look significant at some time.\n")
	fmt.Fprintf(&b, "\n%s\n", Warning)
	_, err := io.WriteString(out, b.String())
	return err
}

func (r *ExperimentReport) printRows(out io.Writer) {
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "\tε\tarm\teffect\tfrom\tto\tfound after\tseeds\t")
	line := func(name, epsilon, arm string, s Sequence, after, seeds string) {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t\n", name, epsilon, arm, digits.Four(s.Effect),
			digits.Four(s.Low), digits.Four(s.High), after, seeds)
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
		line("truth", "", arm, Sequence{a.Truth, none, none, none}, "", "")
	}
	_ = w.Flush()
}

// named returns the name of an arm. It adds the stream and the experiment if there are several.
func (r *ExperimentReport) named(a ArmFound) string {
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
