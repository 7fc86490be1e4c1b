package trial

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"oriel/mechanisms"
	"oriel/operators"
	"oriel/operators/experiment"
	"oriel/schemas/decision"
)

// Run is the experiment of a machine.
type Run struct {
	*experiment.Experiment
	trial   *Trial
	members operators.FindingMembers

	increments *mechanisms.Reading // increments of a step, for streams whose sums decay; otherwise nil
	// Sums of the arms after the previous step, if sums do not decay; stored in the state.
	last     []float64
	Released []experiment.Arm // outcomes of the newest step, by arm
	sums     []float64        // scratch: sums of the cells of a step
	better   []bool           // by arm, whether the verdict calls it better
	verdict  string
	span     float64 // width of the range of values
	turn     int     // index of the current experiment
}

// These are the verdicts of an experiment. Unfit means that the counts of the arms contradict the configured
// probabilities.
const (
	Unfit    = "arms are not drawn as the settings say"
	NotShown = "not shown"
)

var errLast = errors.New("aggregate: state: sums of arms that are no numbers")

// NewRun returns the experiment of a machine before the first step of a stream. members are those that the machine's
// decisions declare for it.
func NewRun(t *Trial, members operators.FindingMembers, stream *mechanisms.Stream) (*Run, error) {
	law, err := stream.NoiseLaw(0)
	if err != nil {
		return nil, fmt.Errorf("aggregate: %w", err)
	}
	settings := t.Settings(law, stream.Batch())
	if err := checkLaw(settings); err != nil {
		return nil, err
	}
	arms := len(t.Names)
	x := &Run{
		Experiment: experiment.New(settings), trial: t, members: members, Released: make([]experiment.Arm, arms),
		sums: make([]float64, stream.Dimension()), better: make([]bool, arms), verdict: NotShown, span: t.High - t.Low,
	}
	if _, decays := stream.Memory(); decays {
		if x.increments, err = stream.Reading(0, 0); err != nil {
			return nil, err
		}
	} else {
		x.last = make([]float64, arms*t.Weights.Size())
	}
	return x, nil
}

// Fields returns the fields of the state; all of them are public.
func (x *Run) Fields(stream *mechanisms.Stream) []operators.Field {
	fields := []operators.Field{operators.Floats(x.State(), func() error {
		x.turn = turnAfter(x.trial.Starts, stream.Step())
		x.Resume(x.trial.Starts[x.turn], x.trial.Announced[x.turn])
		return x.Check(stream.Step())
	})}
	if x.last != nil {
		fields = append(fields, operators.Floats(x.last, func() error {
			for _, v := range x.last {
				if !(math.Abs(v) <= math.MaxFloat64) {
					return errLast
				}
			}
			return nil
		}))
	}
	return fields
}

// Learn passes the step that has just closed to the experiment, if it has begun. The first step of the next experiment
// ends the one before.
func (x *Run) Learn(stream *mechanisms.Stream) {
	if turn := turnAfter(x.trial.Starts, stream.Step()); turn != x.turn {
		x.turn = turn
		x.Restart(x.trial.Starts[turn], x.trial.Announced[turn])
	}
	begun := stream.Step() > x.Start
	sums := stream.Sum(0)
	if x.increments != nil {
		x.increments.Clear() // the state must hold nothing of a reading between steps
		x.increments.Take()
		x.increments.Write(x.sums)
		sums = x.sums
	}
	weights, width := x.trial.Weights, x.trial.Weights.Size()
	for arm := range x.Released {
		released := [3]float64{}
		for column := range min(width, len(released)) {
			for other := range x.trial.Treatments {
				released[column] += sums[x.trial.Cell(arm, other)*width+column]
			}
			if x.last != nil {
				at := &x.last[arm*width+column]
				released[column], *at = released[column]-*at, released[column]
			}
		}
		x.Released[arm] = experiment.Arm{Count: released[0] / weights.Count, Value: released[1] / weights.Mean}
		if weights.Square > 0 {
			x.Released[arm].Square = released[2] / weights.Square
		}
	}
	if begun {
		x.Take(x.Released)
	}
}

// Write sets the members of a decision.
func (x *Run) Write(values []decision.ExtraValue) {
	m := &x.members
	for _, list := range m.Lists {
		list.Clear(values)
	}
	for arm := 1; arm < len(x.Released); arm++ {
		add(values, m.Effect, x.Effect(arm), 0, x.span)
		e := x.Evidence(arm)
		m.E.Append(values, e.E)
		m.P.Append(values, e.P)
		if x.Lift {
			add(values, m.Lift, x.Ratio(arm), 0, 1)
		}
	}
	for arm := range x.Released {
		add(values, m.Mean, x.Mean(arm), x.trial.Low, x.span)
	}
	m.Verdict.Set(values, x.says())
	stop := 0.0
	if x.Ready() && x.Balanced() {
		stop = 1
	}
	m.StopAllowed.Set(values, stop)
	m.Balance.Set(values, x.Balance())
	m.Looks.Set(values, float64(x.Looks()))
	m.Recent.Set(values, x.Recent())
	m.Number.Set(values, float64(x.turn+1))
	m.First.Set(values, float64(x.trial.Starts[x.turn]+1))
}

// add appends an estimate, times unit and plus from, to a sequence.
func add(values []decision.ExtraValue, to operators.SequenceMembers, e experiment.Estimate, from, unit float64) {
	to.Value.Append(values, from+float64(unit*e.Value))
	to.Low.Append(values, from+float64(unit*e.Low))
	to.High.Append(values, from+float64(unit*e.High))
}

// says returns the text of the verdict. It builds a new text only if the verdict has changed, so that steps do not
// allocate.
func (x *Run) says() string {
	if !x.Balanced() {
		return Unfit
	}
	changed := false
	for arm := 1; arm < len(x.Released); arm++ {
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
			found = append(found, x.trial.Names[arm]+" better")
		}
	}
	if x.verdict = strings.Join(found, ", "); found == nil {
		x.verdict = NotShown
	}
	return x.verdict
}
