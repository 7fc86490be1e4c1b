package operators

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"oriel/schemas/decision"
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

// FindingMembers are the handles of the members that state findings.
type FindingMembers struct {
	Effect, Lift, Mean                                 SequenceMembers // Lift only if the experiment has lifts
	E, P                                               NumbersMember
	Verdict                                            TextMember
	StopAllowed, Balance, Looks, Recent, Number, First NumberMember

	Lists []NumbersMember // all lists
}

// SequenceMembers are the handles of confidence sequences: their values, and the ends of their intervals.
type SequenceMembers struct{ Value, Low, High NumbersMember }

// Declare declares the members that state the findings of the experiment.
func (e *Experiment) Declare(m *Members) (f FindingMembers) {
	list := func(name, text string, n int) NumbersMember {
		f.Lists = append(f.Lists, m.Numbers(name, text, n))
		return f.Lists[len(f.Lists)-1]
	}
	sequence := func(name, text string, n int) SequenceMembers {
		return SequenceMembers{
			list(name, text, n), list(name+"_low", "Lower ends of confidence sequences with "+name+".", n),
			list(name+"_high", "Upper ends of confidence sequences with "+name+".", n),
		}
	}
	others := len(e.Arms) - 1
	f.Effect = sequence("effect", "The difference that each arm but the control makes to the mean outcome, a weighted average over the experiment so far. "+
		"Its sequences cover sampling and the noise of privacy, of all arms at all looks together.", others)
	f.E = list("effect_e", "e-values of no effect, by arm: one of 20 says at least as much as p = 0.05, at any time.", others)
	f.P = list("effect_p", "p-values of no effect, by arm, valid at any time: the least 1/e so far.", others)
	if e.Lift {
		f.Lift = sequence("lift", "Each arm's mean outcome in units of the control's; an upper end of 1.7976931348623157e308 says that "+
			"there is none.", others)
	}
	f.Mean = sequence("arm_mean", "Mean outcome of each arm, the control first; each sequence holds by itself.", len(e.Arms))
	f.Verdict = m.Text("verdict", "The arms that were found better than the control, at some look; each stays so. not shown: none was. "+
		"It never says that there is no difference.")
	f.StopAllowed = m.Number("stop_allowed", "1 if the experiment may be stopped now; 0 before its first look, and where "+
		"counts of arms do not fit their propensities.")
	f.Balance = m.Number("balance_e", "e-value of the arms' counts: above 1000 arms are not drawn as the settings say, and there is no "+
		"verdict.")
	f.Looks = m.Number("looks", "Steps of the experiment so far.")
	f.Recent = m.Number("recent", "About which part of the weight of effect the newer half of the events has: half if all weighed the same.")
	f.Number = m.Number("experiment", "Number of the stream's experiment, from 1: all members above are of it alone. It has a probability "+
		"of failing of its own.")
	f.First = m.Number("experiment_step", "The first step of the experiment.")
	return f
}

// estimates returns a sequence of a decision. An upper end of math.MaxFloat64 stands for none.
func (s SequenceMembers) estimates(values []decision.ExtraValue, shown bool) []Estimate {
	all := make([]Estimate, len(s.Value.Of(values)))
	for i, value := range s.Value.Of(values) {
		all[i] = Estimate{Value: value, Low: s.Low.Of(values)[i], High: s.High.Of(values)[i], Shown: shown}
		if all[i].High == math.MaxFloat64 {
			all[i].High = math.Inf(1)
		}
	}
	return all
}

// Read returns the findings in a decision. Numbers are Shown from the first look on.
func (e *Experiment) Read(d decision.Decision) (Findings, error) {
	var declared Members
	m := e.Declare(&declared)
	values, err := declared.Read(d.Extras)
	if err != nil {
		return Findings{}, fmt.Errorf("%w, for an experiment of %d arms", err, len(e.Arms))
	}
	f := Findings{
		Verdict: m.Verdict.Of(values), StopAllowed: m.StopAllowed.Of(values) == 1, Balance: m.Balance.Of(values),
		Recent: m.Recent.Of(values), Events: float64(m.Looks.Of(values) * float64(d.Batch)),
		Number: uint64(m.Number.Of(values)), First: uint64(m.First.Of(values)),
	}
	shown := f.Events >= e.Looks
	f.Means = m.Mean.estimates(values, shown)
	lifts := make([]Estimate, len(e.Arms)-1)
	if e.Lift {
		lifts = m.Lift.estimates(values, shown)
	}
	better := strings.Split(f.Verdict, ", ")
	for i, effect := range m.Effect.estimates(values, shown) {
		arm := e.Arms[i+1]
		f.Effects = append(f.Effects, Effect{
			Arm: arm, Estimate: effect, E: m.E.Of(values)[i], P: m.P.Of(values)[i], Lift: lifts[i],
			Better: slices.Contains(better, arm+" better"),
		})
	}
	return f, nil
}

// ExperimentOf returns the experiment that decisions of o test, or nil if there is none.
func ExperimentOf(o Operator) *Experiment { return ability(o, Testing.Experiment) }
