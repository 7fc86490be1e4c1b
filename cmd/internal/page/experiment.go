package page

import (
	"fmt"
	"slices"
	"strings"

	"oriel/cmd/internal/digits"
	"oriel/operators"
)

// experiment is what the page shows of an experiment's newest decision. Its sentences answer two questions: what was
// found, and may I stop?
type experiment struct {
	State   string   `json:"state"` // early, open, found or unfit
	Says    string   `json:"says"`
	Then    []string `json:"then"`
	Number  uint64   `json:"number"` // number of the experiment among those of the stream, from 1
	First   uint64   `json:"first"`  // first step of the experiment
	Events  shown    `json:"events"`
	Balance shown    `json:"balance"`
	Recent  shown    `json:"recent"`
	Arms    []arm    `json:"arms"` // arms, the control first
}

// arm is a row of the table. For the control, and before the first look, effects and lifts are null.
type arm struct {
	Name   string   `json:"name"`
	Better bool     `json:"better"`
	Effect [3]shown `json:"effect"` // value, low and high
	Lift   [3]shown `json:"lift"`
	Mean   [3]shown `json:"mean"`
	E      shown    `json:"e"`
	P      shown    `json:"p"`
}

// shownOnExperiments lists the members of decisions that the section on experiments describes in words.
var shownOnExperiments = []string{"stop_allowed", "balance_e", "looks", "recent", "experiment", "experiment_step"}

// newExperiment describes in words the findings of a decision.
func newExperiment(of *operators.Experiment, f operators.Findings) *experiment {
	x := &experiment{
		Number: f.Number, First: f.First, Events: shown(f.Events), Balance: shown(f.Balance), Recent: shown(f.Recent),
	}
	triple := func(e operators.Estimate) [3]shown {
		if !e.Shown {
			return [3]shown{nothing, nothing, nothing}
		}
		return [3]shown{shown(e.Value), shown(e.Low), shown(e.High)}
	}
	none := triple(operators.Estimate{})
	control := of.Arms[0]
	x.Arms = append(x.Arms, arm{Name: control, Effect: none, Lift: none, Mean: triple(f.Means[0]), E: nothing, P: nothing})
	var better []string
	for i, e := range f.Effects {
		a := arm{
			Name: e.Arm, Better: e.Better, Effect: triple(e.Estimate), Lift: triple(e.Lift), Mean: triple(f.Means[i+1]),
			E: shown(e.E), P: shown(e.P),
		}
		if !e.Shown {
			a.E, a.P = nothing, nothing
		}
		if x.Arms = append(x.Arms, a); e.Better {
			better = append(better, e.Arm)
		}
	}
	switch {
	case f.Events < of.Looks:
		x.State = "early"
		x.Says = fmt.Sprintf("Too early to say: the first look has %s events.", digits.Four(of.Looks))
	case f.Unfit(of):
		x.State, x.Says = "unfit", "No verdict: arms are not drawn as the settings say."
		x.Then = []string{
			"The counts of the arms do not fit ORIEL_PROPENSITIES. Use none of the numbers below, and find out why: events of one arm may " +
				"get lost, or the share that is sent to each arm may be another one.",
		}
	case better == nil:
		x.State, x.Says = "open", fmt.Sprintf("Not shown: no arm has been found better than %s so far.", control)
		x.Then = []string{
			"This does not say that there is no difference. Bands say which effects are still possible.",
			"You may look again at any time, and stop at any time.",
		}
	default:
		x.State, x.Says = "found", fmt.Sprintf("%s %s better than %s.", joined(better), isAre(better), control)
		x.Then = []string{
			"You may stop, or go on: later events never take the verdict back. The band says by how much.",
		}
	}
	return x
}

func joined(names []string) string {
	if n := len(names); n > 1 {
		return strings.Join(names[:n-1], ", ") + " and " + names[n-1]
	}
	return names[0]
}

func isAre(names []string) string {
	if len(names) == 1 {
		return "is"
	}
	return "are"
}

// aboutExperiment has the constant contents of the section: the explanation of its numbers.
type aboutExperiment struct {
	Outcome string  `json:"outcome"`
	Target  float64 `json:"target"` // number of events at which bands are narrowest
	Lift    bool    `json:"lift"`
	Reads   string  `json:"reads"`
}

func newAboutExperiment(e *operators.Experiment) *aboutExperiment {
	if e == nil {
		return nil
	}
	level := digits.Four(100 * (1 - e.Alpha))
	return &aboutExperiment{
		Outcome: e.Outcome, Target: e.Target, Lift: e.Lift,
		Reads: "An effect is the difference that an arm makes to the mean " + e.Outcome + " of " + e.Arms[0] + ", averaged " +
			"over the experiment so far. With probability " + level + " % the bands of all arms hold at all looks together, however " +
			"often you look; sampling and the noise of privacy are both in them. An arm's mean has a band of its own. " +
			"Effects are caused by the arms as long as events are drawn for them with the probabilities of " +
			"ORIEL_PROPENSITIES; a misfit of the counts above 1000 says that they are not.",
	}
}

// mostEffects bounds the number of looks that are kept, over the whole time of a stream's experiment.
const mostEffects = 400

// effects is the history of a stream's present experiment since the process started, look by look. When it is full, it
// drops every second look. So it can cover weeks, while histories by time cover an hour.
type effects struct {
	number      uint64 // number of the experiment
	seen, every int
	looks       []look
}

type look struct {
	events float64
	bands  [][3]float32 // bands of the treatment arms
}

// add adds a decision, if the experiment shows numbers.
func (c *effects) add(d *experiment) {
	if d.Number != c.number {
		*c = effects{number: d.Number}
	}
	if d.State == "early" || len(c.looks) > 0 && c.looks[len(c.looks)-1].events >= float64(d.Events) {
		return
	}
	k := c.seen
	if c.seen++; c.every > 0 && k%c.every != 0 {
		return
	}
	l := look{events: float64(d.Events)}
	for _, a := range d.Arms[1:] {
		l.bands = append(l.bands, [3]float32{float32(a.Effect[0]), float32(a.Effect[1]), float32(a.Effect[2])})
	}
	if c.looks = append(c.looks, l); len(c.looks) <= mostEffects {
		return
	}
	c.every = 2 * max(1, c.every)
	kept := c.looks[:0]
	for i := 0; i < len(c.looks); i += 2 {
		kept = append(kept, c.looks[i])
	}
	c.looks = slices.Clip(kept)
}

// effectsFrame is the history of one arm's effect against the number of events.
type effectsFrame struct {
	Events []float64 `json:"events"`
	Value  []shown   `json:"value"`
	Low    []shown   `json:"low"`
	High   []shown   `json:"high"`
}

// effectsFrame returns the history of the effect of the treatment arm with this number.
func (p *Page) effectsFrame(id int32, arm int) []byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	f := effectsFrame{[]float64{}, []shown{}, []shown{}, []shown{}}
	if part := p.partitions[id]; part != nil {
		for _, l := range part.effects.looks {
			if arm < 1 || arm > len(l.bands) {
				continue
			}
			band := l.bands[arm-1]
			f.Events, f.Value = append(f.Events, l.events), append(f.Value, shown(band[0]))
			f.Low, f.High = append(f.Low, shown(band[1])), append(f.High, shown(band[2]))
		}
	}
	return encoded(f)
}
