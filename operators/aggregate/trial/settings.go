package trial

import (
	"math"
	"strings"

	"oriel/mechanisms"
	"oriel/operators/experiment"
	"oriel/operators/setting"
)

// Settings are the settings of an experiment. They are listed after the settings of arms.
var Settings = []setting.Row{
	{
		Name: "ALWAYS_VALID", Kind: setting.Number, Unit: "probability",
		Bounds: setting.From(1e-6, 0.5).OrZero(), Default: "0",
		Text: "makes ORIEL_ARMS an experiment: with this probability at most, the bands of its effects fail at any look. 0.05 is usual; " +
			"0: no experiment",
	},
	{
		Name: "PROPENSITIES", Kind: setting.Text, Form: func(text string) bool { return propensities(text) != nil }, Unit: "p|p|…",
		Range: "one number from 0.001 to 0.999 for each arm; their sum is 1",
		Text:  "probability with which the experiment draws each arm, in the order of ORIEL_CELLS, whatever came before",
	},
	{
		Name: "NEAR", Kind: setting.Number, Unit: "value",
		Bounds: setting.From(-1e12, 1e12), Range: "inside of ORIEL_VALUE's range", Default: "0",
		Text: "a guess of the mean outcome, from public or older data. A good guess makes bands narrower; bands are valid with any guess",
	},
	{
		Name: "TARGET", Kind: setting.Count, Unit: "events", Bounds: setting.From(experiment.FirstLook, 1e12).OrZero(), Default: "0",
		Text: "expected number of events of the experiment. Bands are tuned for this number, and valid before and after",
	},
	{
		Name: "UNITS", Kind: setting.Text, Unit: "name", Choices: []string{"unknown", "single"},
		Default: "unknown",
		Text:    "single states, in public, that each unit, such as a visitor, sends one event. Otherwise an experiment needs ORIEL_USER_ID",
	},
	{
		Name: "LIFT", Kind: setting.Flag, Unit: "bool", Default: "false",
		Text: "decisions also have each arm's mean over the control's, with a band. ORIEL_VALUE must start at 0",
	},
	{
		Name: "EXPERIMENT_STEP", Kind: setting.Text, Form: func(text string) bool { return parseStarts(text) != nil }, Unit: "step,step,…", Range: "1 to 2^40, ascending, at most 64",
		Default: "1",
		Text:    "first step of the experiment in its stream. Each further step ends it and starts the next one, with a verdict of its own",
	},
}

// Read reads the settings of an experiment on an aggregate's arms, and reports each problem with them. It returns nil
// if no experiment is configured. weightMax is the largest weight of an event, or 0 if events have none.
func Read(v *setting.Values, of Arms, weightMax float64, facts mechanisms.Facts) *Trial {
	t := &Trial{Arms: of, Alpha: v.Number("ALWAYS_VALID"), Near: v.Number("NEAR"), Lift: v.Flag("LIFT")}
	target, steps, text := v.Count("TARGET"), v.Text("EXPERIMENT_STEP"), v.Text("PROPENSITIES")
	if t.Alpha == 0 && v.Sound("ALWAYS_VALID") {
		const idle = "set, but ORIEL_ALWAYS_VALID is not: there is no experiment"
		v.Want("PROPENSITIES", text == "", idle)
		v.Want("NEAR", t.Near == 0, idle)
		v.Want("TARGET", target == 0, idle)
		v.Want("UNITS", v.Text("UNITS") == "unknown", idle)
		v.Want("LIFT", !t.Lift, idle)
		v.Want("EXPERIMENT_STEP", steps == "1", idle)
		return nil
	}
	v.Want("ALWAYS_VALID", len(of.Names) > 0, "needs ORIEL_ARMS, the arms of the experiment")
	v.Want("ALWAYS_VALID", of.Weights.Mean > 0 && of.Weights.Count > 0,
		"needs mean in ORIEL_STATISTICS, of outcomes in ORIEL_VALUE")
	v.Want("WEIGHT_MAX", weightMax == 0, "%g: an experiment counts each event once; leave it out, or ORIEL_ALWAYS_VALID",
		weightMax)
	v.Want("MECHANISM", !facts.EachStep(), "%s: ORIEL_ALWAYS_VALID wants blt, with a horizon or a memory", v.Mechanism)
	t.Propensities = propensities(text)
	sum := 0.0
	for _, p := range t.Propensities {
		sum += p
	}
	arms := len(of.Names)
	v.Want("PROPENSITIES", text != "", "not set: an experiment draws its arms with known probabilities, such as 0.5|0.5; without "+
		"them a difference says nothing about causes; leave out ORIEL_ALWAYS_VALID to compare arms that were not drawn")
	v.Want("PROPENSITIES", t.Propensities == nil || math.Abs(sum-1) <= 1e-9, "%s: sum to %g, want 1", text, sum)
	v.Want("PROPENSITIES", t.Propensities == nil || arms == 0 || len(t.Propensities) == arms, "%s: %d probabilities for %d arms", text,
		len(t.Propensities), arms)
	v.Want("NEAR", of.Outcome == "" || t.Near > of.Low && t.Near < of.High,
		"%g: not inside of ORIEL_VALUE's range, %g to %g; set a guess of the mean outcome", t.Near, of.Low, of.High)
	v.Want("TARGET", target > 0, "not set; set how many events the experiment is expected to have")
	looks := target / max(1, v.Batch)
	v.Want("TARGET", looks <= MaxTargetSteps, "%d: %d steps of ORIEL_BATCH=%d, above %d; take a larger batch", target, looks,
		v.Batch, MaxTargetSteps)
	t.Starts = parseStarts(steps)
	v.Want("LIFT", !t.Lift || of.Low == 0, "true: needs outcomes that start at 0; ORIEL_VALUE starts at %g", of.Low)
	t.Target = float64(target)
	if t.Starts == nil {
		t.Starts = []uint64{0}
	}
	t.Announced = make([]uint64, len(t.Starts))
	if v.Terms.Scope != nil {
		t.Horizon = v.Terms.Scope.Figures().Horizon
	}
	t.wantUnits(v)
	return t
}

// MaxTargetSteps limits the work of computing targets when a stream opens.
const MaxTargetSteps = 1 << 20

// wantUnits requires at most one event of each unit (for example, each visitor): ORIEL_UNITS must state it, or users
// must be separated. Events of one unit depend on each other, and no confidence sequence here accounts for dependence.
func (t *Trial) wantUnits(v *setting.Values) {
	if v.Text("UNITS") == "single" {
		return
	}
	separation, several := uint64(0), false
	if unit := v.Terms.Unit; unit != nil {
		separation, several = unit.EventSeparation()
	}
	steps := max(t.Horizon, t.Starts[0]) - t.Starts[0]
	v.Want("UNITS", several && steps > 0 && separation >= steps, "%s: several events of one unit make an experiment look surer than it is; "+
		"set ORIEL_UNITS=single if each unit sends one, or ORIEL_USER_ID with ORIEL_USER_SEPARATION of at least the experiment's steps and "+
		"ORIEL_WINDOW=horizon", v.Text("UNITS"))
}

// propensities parses p|p|…; it returns nil if the text is not a list of this form.
func propensities(text string) (list []float64) {
	for part := range strings.SplitSeq(text, "|") {
		p, err := setting.ParseNumber(part)
		if err != nil || !(p >= 0.001 && p <= 0.999) {
			return nil
		}
		list = append(list, p)
	}
	return list
}
