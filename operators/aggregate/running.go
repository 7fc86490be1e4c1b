package aggregate

import (
	"errors"
	"fmt"
	"strings"

	"oriel/mechanisms"
	"oriel/operators"
	"oriel/operators/experiment"
	"oriel/schemas/decision"
)

// running is the experiment of a machine.
type running struct {
	*experiment.Experiment
	spec  *specification
	names []string // names of the arms

	increments *mechanisms.Reading // increments of a step, for streams whose sums decay; otherwise nil
	// Sums of the arms after the previous step, if sums do not decay; stored in the state.
	last    []float64
	arms    []experiment.Arm // scratch: the release by arm
	sums    []float64        // scratch: sums of the cells of a step
	better  []bool           // by arm, whether the verdict calls it better
	verdict string
	span    float64 // width of the range of values
	test    *tested
	turn    int // index of the current experiment
}

// These are the verdicts of an experiment. unfit means that the counts of the arms contradict the configured
// probabilities.
const (
	unfit    = "arms are not drawn as the settings say"
	notShown = "not shown"
)

var errLast = errors.New("aggregate: state: sums of arms that are no numbers")

// newRunning returns the experiment before the first step of a stream.
func newRunning(c operator, stream *mechanisms.Stream) (*running, error) {
	law, err := stream.NoiseLaw(0)
	if err != nil {
		return nil, fmt.Errorf("aggregate: %w", err)
	}
	of, settings := c.spec.comparison(), c.settings(law, stream.Batch())
	if err := checkLaw(settings); err != nil {
		return nil, err
	}
	x := &running{
		Experiment: experiment.New(settings), spec: &c.spec, arms: make([]experiment.Arm, of.arms),
		sums: make([]float64, c.spec.hot().Size()), better: make([]bool, of.arms), verdict: notShown,
		span: c.spec.high - c.spec.low, names: c.spec.armNames(), test: c.test,
	}
	if _, decays := stream.Memory(); decays {
		if x.increments, err = stream.Reading(0, 0); err != nil {
			return nil, err
		}
	} else {
		x.last = make([]float64, of.arms*c.spec.width())
	}
	return x, nil
}

// fields returns the fields of the state; all of them are public.
func (x *running) fields(stream *mechanisms.Stream) []operators.Field {
	fields := []operators.Field{operators.Floats(x.State(), func() error {
		x.turn = turnAfter(x.test.starts, stream.Step())
		x.Resume(x.test.starts[x.turn], x.test.announced[x.turn])
		return x.Check(stream.Step())
	})}
	if x.last != nil {
		fields = append(fields, operators.Floats(x.last, func() error {
			for _, v := range x.last {
				if !finite(v) {
					return errLast
				}
			}
			return nil
		}))
	}
	return fields
}

// take passes the step that has just closed to the experiment, if it has begun. The first step of the next experiment
// ends the one before.
func (x *running) take(stream *mechanisms.Stream) {
	if turn := turnAfter(x.test.starts, stream.Step()); turn != x.turn {
		x.turn = turn
		x.Restart(x.test.starts[turn], x.test.announced[turn])
	}
	begun := stream.Step() > x.Start
	sums := stream.Sum(0)
	if x.increments != nil {
		x.increments.Clear() // the state must hold nothing of a reading between steps
		x.increments.Take()
		x.increments.Write(x.sums)
		sums = x.sums
	}
	of, width := x.spec.comparison(), x.spec.width()
	for arm := range x.arms {
		released := [3]float64{}
		for column := range min(width, len(released)) {
			for other := range of.treatments {
				released[column] += sums[of.cell(arm, other)*width+column]
			}
			if x.last != nil {
				at := &x.last[arm*width+column]
				released[column], *at = released[column]-*at, released[column]
			}
		}
		x.arms[arm] = experiment.Arm{Count: released[0] / x.spec.weights.Count, Value: released[1] / x.spec.weights.Mean}
		if x.spec.weights.Square > 0 {
			x.arms[arm].Square = released[2] / x.spec.weights.Square
		}
	}
	if begun {
		x.Take(x.arms)
	}
}

// write writes the members of testExtras.
func (x *running) write(extras []decision.ExtraValue) {
	at := 0
	next := func() *decision.ExtraValue { at++; return &extras[at-1] }
	lists := func(n int) (lists [3]*[]float64) {
		for i := range n {
			lists[i] = &next().Numbers
			*lists[i] = (*lists[i])[:0]
		}
		return lists
	}
	add := func(to [3]*[]float64, e experiment.Estimate, from, unit float64) {
		for i, v := range [3]float64{e.Value, e.Low, e.High} {
			*to[i] = append(*to[i], from+float64(unit*v))
		}
	}
	effects, evidence := lists(3), lists(2)
	for arm := 1; arm < len(x.arms); arm++ {
		add(effects, x.Effect(arm), 0, x.span)
		e := x.Evidence(arm)
		*evidence[0], *evidence[1] = append(*evidence[0], e.E), append(*evidence[1], e.P)
	}
	if x.Lift {
		ratios := lists(3)
		for arm := 1; arm < len(x.arms); arm++ {
			add(ratios, x.Ratio(arm), 0, 1)
		}
	}
	means := lists(3)
	for arm := range x.arms {
		add(means, x.Mean(arm), x.spec.low, x.span)
	}
	next().Text = x.says()
	next().Number = marked(x.Ready() && x.Balanced())
	next().Number = x.Balance()
	next().Number = float64(x.Looks())
	next().Number = x.Recent()
	next().Number = float64(x.turn + 1)
	next().Number = float64(x.test.starts[x.turn] + 1)
}

// says returns the text of the verdict. It builds a new text only if the verdict has changed, so that steps do not
// allocate.
func (x *running) says() string {
	if !x.Balanced() {
		return unfit
	}
	changed := false
	for arm := 1; arm < len(x.arms); arm++ {
		if better := x.Better(arm); better != x.better[arm] {
			x.better[arm], changed = better, true
		}
	}
	if !changed {
		return x.verdict
	}
	var found []string
	for arm, better := range x.better {
		if better {
			found = append(found, x.names[arm]+" better")
		}
	}
	if x.verdict = strings.Join(found, ", "); found == nil {
		x.verdict = notShown
	}
	return x.verdict
}
