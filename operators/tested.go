package operators

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"oriel/schemas/decision"
	"oriel/schemas/event"
)

// Announced returns the least number of events between the decision to start an experiment on a running stream, and the
// experiment's first step: 2000 events, or the events of 20 steps if these are more. The decision may depend on all
// releases so far, and an experiment pays for that with wider bands (operators/experiment/PROOF.md, Theorem 6). A
// distance is not necessary for its proof, but makes the bands narrower.
func Announced(batch uint64) uint64 { return max(2000, 20*batch) }

// Experiment describes the members of decisions that test effects, so that programs can show them. The descriptor of a
// deployment contains it in this form.
type Experiment struct {
	Arms    []string `json:"arms"`    // names of the arms, the control first
	Alpha   float64  `json:"alpha"`   // largest probability that a sequence of effects fails, over all looks and arms
	Outcome string   `json:"outcome"` // column of the outcomes
	Low     float64  `json:"low"`     // public range of the outcomes
	High    float64  `json:"high"`
	Target  float64  `json:"target"`     // number of events near which sequences are narrowest
	First   uint64   `json:"first_step"` // first step of the stream's first experiment
	Looks   float64  `json:"events_of_first_look"`
	Lift    bool     `json:"lift"`
	Steps   []uint64 `json:"first_steps,omitempty"` // first steps of several experiments, as the settings list them

	// Assigned returns the arm of an event and its outcome, clamped to the range. An arm of −1 means that the event is
	// not counted. Assigned is code, so a descriptor does not contain it.
	Assigned func(e event.Event) (arm int, outcome float64) `json:"-"`
}

// Of returns the number of the experiment that contains a step, counted from 1 in the settings' list. It is 0 for steps
// before the first experiment.
func (e *Experiment) Of(step uint64) (number uint64) {
	if step >= e.First {
		number = 1
	}
	for i, first := range e.Steps {
		if step >= first {
			number = uint64(i + 1)
		}
	}
	return number
}

// Findings are the results of an experiment that a decision publishes.
type Findings struct {
	Effects     []Effect   // effect of each arm except the control
	Means       []Estimate // mean outcome of each arm
	Verdict     string     // the verdict in words
	StopAllowed bool
	Balance     float64 // e-value of the arms' counts
	Recent      float64 // share of the weight that the newer half of the events has
	Events      float64 // number of events of the experiment so far
	Number      uint64  // number of the experiment within the stream, from 1
	First       uint64  // first step of the experiment
}

// Effect is the difference between the mean outcome of an arm and that of the control.
type Effect struct {
	Arm string
	Estimate
	E, P   float64
	Lift   Estimate // ratio to the control's mean; not Shown if the experiment has no lifts
	Better bool     // the verdict says that the arm is better than the control
}

// Unfit reports whether the verdict is withheld because the arms are not drawn with the configured probabilities.
func (f *Findings) Unfit(e *Experiment) bool { return !f.StopAllowed && f.Events >= e.Looks }

// Read parses the findings in a decision. Numbers are Shown from the first look on.
func (e *Experiment) Read(d decision.Decision) (Findings, error) {
	f := Findings{}
	members, missing := map[string]json.RawMessage{}, ""
	for _, x := range d.Extras {
		members[x.Name] = json.RawMessage(x.JSON)
	}
	read := func(name string, to any) {
		if json.Unmarshal(members[name], to) != nil && missing == "" {
			missing = name
		}
	}
	list := func(name string, n int) []float64 {
		var numbers []float64
		if read(name, &numbers); len(numbers) != n {
			numbers, missing = make([]float64, n), name
		}
		return numbers
	}
	sequence := func(name string, n int) []Estimate {
		values, low, high := list(name, n), list(name+"_low", n), list(name+"_high", n)
		all := make([]Estimate, n)
		for i := range all {
			all[i] = Estimate{Value: values[i], Low: low[i], High: high[i]}
			if all[i].High == math.MaxFloat64 {
				all[i].High = math.Inf(1)
			}
		}
		return all
	}
	var stop, looks float64
	read("verdict", &f.Verdict)
	read("stop_allowed", &stop)
	read("balance_e", &f.Balance)
	read("recent", &f.Recent)
	read("looks", &looks)
	read("experiment", &f.Number)
	read("experiment_step", &f.First)
	f.StopAllowed, f.Events = stop == 1, float64(looks*float64(d.Batch))
	shown := f.Events >= e.Looks
	others := len(e.Arms) - 1
	effects, es, ps := sequence("effect", others), list("effect_e", others), list("effect_p", others)
	lifts := make([]Estimate, others)
	if e.Lift {
		lifts = sequence("lift", others)
	}
	f.Means = sequence("arm_mean", len(e.Arms))
	if missing != "" {
		return Findings{}, fmt.Errorf("member %s: missing, or not that of an experiment of %d arms", missing, len(e.Arms))
	}
	for i := range f.Means {
		f.Means[i].Shown = shown
	}
	for i, effect := range effects {
		effect.Shown, lifts[i].Shown = shown, shown && e.Lift
		arm := e.Arms[i+1]
		f.Effects = append(f.Effects, Effect{
			Arm: arm, Estimate: effect, E: es[i], P: ps[i], Lift: lifts[i],
			Better: slices.Contains(strings.Split(f.Verdict, ", "), arm+" better"),
		})
	}
	return f, nil
}

// ExperimentOf returns the experiment that decisions of o test, or nil if there is none.
func ExperimentOf(o Operator) *Experiment { return ability(o, Testing.Experiment) }
