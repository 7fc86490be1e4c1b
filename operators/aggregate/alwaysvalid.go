package aggregate

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"oriel/mechanisms"
	"oriel/operators"
	"oriel/operators/experiment"
	"oriel/schemas/decision"
	"oriel/schemas/event"
	"oriel/schemas/text"
)

// tested holds the settings of an experiment. A nil *tested means that there is no experiment.
type tested struct {
	propensities []float64 // probability with which each arm is drawn
	alpha        float64
	near         float64  // guess of the mean, in units of values
	target       float64  // expected number of events
	starts       []uint64 // number of steps before each experiment begins, ascending
	announced    []uint64 // number of steps that the choice of each start may depend on; 0 for a start in the settings
	lift         bool
}

// testSettings are the settings of an experiment. They are listed after the settings of arms.
var testSettings = []operators.Setting{
	{
		Name: "ALWAYS_VALID", Kind: operators.Number, Unit: "probability",
		Bounds: operators.From(1e-6, 0.5).OrZero(), Default: "0",
		Later: true,
		Text: "makes ORIEL_ARMS an experiment: with this probability at most, the bands of its effects fail at any look. 0.05 is usual; " +
			"0: no experiment",
	},
	{
		Name: "PROPENSITIES", Kind: operators.Text, Form: func(text string) bool { return propensities(text) != nil }, Unit: "p|p|…",
		Range: "one number from 0.001 to 0.999 for each arm; their sum is 1",
		Later: true,
		Text:  "probability with which the experiment draws each arm, in the order of ORIEL_CELLS, whatever came before",
	},
	{
		Name: "NEAR", Kind: operators.Number, Unit: "value",
		Bounds: operators.From(-1e12, 1e12), Range: "inside of ORIEL_VALUE's range", Default: "0",
		Later: true,
		Text:  "a guess of the mean outcome, from public or older data. A good guess makes bands narrower; bands are valid with any guess",
	},
	{
		Name: "TARGET", Kind: operators.Count, Unit: "events", Bounds: operators.From(experiment.FirstLook, 1e12).OrZero(), Default: "0", Later: true,
		Text: "expected number of events of the experiment. Bands are tuned for this number, and valid before and after",
	},
	{
		Name: "UNITS", Kind: operators.Text, Unit: "name", Choices: []string{"unknown", "single"},
		Default: "unknown", Later: true,
		Text: "single states, in public, that each unit, such as a visitor, sends one event. Otherwise an experiment needs ORIEL_USER_ID",
	},
	{
		Name: "LIFT", Kind: operators.Flag, Unit: "bool", Default: "false", Later: true,
		Text: "decisions also have each arm's mean over the control's, with a band. ORIEL_VALUE must start at 0",
	},
	{
		Name: "EXPERIMENT_STEP", Kind: operators.Text, Form: func(text string) bool { return parseStarts(text) != nil }, Unit: "step,step,…", Range: "1 to 2^40, ascending, at most 64",
		Default: "1", Later: true,
		Text: "first step of the experiment in its stream. Each further step ends it and starts the next one, with a verdict of its own",
	},
}

// wantTest reads the settings of an experiment and reports each problem with them.
func (c *operator) wantTest(v *operators.Values, facts mechanisms.Facts) {
	t, s := &tested{alpha: v.Number("ALWAYS_VALID"), near: v.Number("NEAR"), lift: v.Flag("LIFT")}, &c.spec
	target, steps, text := v.Count("TARGET"), v.Text("EXPERIMENT_STEP"), v.Text("PROPENSITIES")
	if t.alpha == 0 && v.Sound("ALWAYS_VALID") {
		const idle = "set, but ORIEL_ALWAYS_VALID is not: there is no experiment"
		v.Want("PROPENSITIES", text == "", idle)
		v.Want("NEAR", t.near == 0, idle)
		v.Want("TARGET", target == 0, idle)
		v.Want("UNITS", v.Text("UNITS") == "unknown", idle)
		v.Want("LIFT", !t.lift, idle)
		v.Want("EXPERIMENT_STEP", steps == "1", idle)
		return
	}
	v.Want("ALWAYS_VALID", s.arms != "", "needs ORIEL_ARMS, the arms of the experiment")
	v.Want("ALWAYS_VALID", s.weights.Mean > 0 && s.weights.Count > 0,
		"needs mean in ORIEL_STATISTICS, of outcomes in ORIEL_VALUE")
	v.Want("WEIGHT_MAX", s.weightMax == 0, "%g: an experiment counts each event once; leave it out, or ORIEL_ALWAYS_VALID",
		s.weightMax)
	v.Want("MECHANISM", facts.Structure != mechanisms.PerStep, "%s: ORIEL_ALWAYS_VALID wants blt, with a horizon or a memory", v.Mechanism)
	t.propensities = propensities(text)
	sum := 0.0
	for _, p := range t.propensities {
		sum += p
	}
	arms := s.comparison().arms
	v.Want("PROPENSITIES", text != "", "not set: an experiment draws its arms with known probabilities, such as 0.5|0.5; without "+
		"them a difference says nothing about causes; leave out ORIEL_ALWAYS_VALID to compare arms that nobody has drawn")
	v.Want("PROPENSITIES", t.propensities == nil || math.Abs(sum-1) <= 1e-9, "%s: sum to %g, want 1", text, sum)
	v.Want("PROPENSITIES", t.propensities == nil || arms == 0 || len(t.propensities) == arms, "%s: %d probabilities for %d arms", text,
		len(t.propensities), arms)
	v.Want("NEAR", s.value == "" || t.near > s.low && t.near < s.high,
		"%g: not inside of ORIEL_VALUE's range, %g to %g; set a guess of the mean outcome", t.near, s.low, s.high)
	v.Want("TARGET", target > 0, "not set; set how many events the experiment is expected to have")
	looks := target / max(1, v.Batch)
	v.Want("TARGET", looks <= maxTargetSteps, "%d: %d steps of ORIEL_BATCH=%d, above %d; take a larger batch", target, looks,
		v.Batch, maxTargetSteps)
	t.starts = parseStarts(steps)
	v.Want("LIFT", !t.lift || s.low == 0, "true: needs outcomes that start at 0; ORIEL_VALUE starts at %g", s.low)
	t.target = float64(target)
	if t.starts == nil {
		t.starts = []uint64{0}
	}
	t.announced = make([]uint64, len(t.starts))
	c.wantUnits(v, t)
	c.test = t
}

// maxTargetSteps limits the work of computing targets when a stream opens.
const maxTargetSteps = 1 << 20

// wantUnits requires at most one event of each unit (for example, each visitor): ORIEL_UNITS must state it, or users
// must be separated. Events of one unit depend on each other, and no confidence sequence here accounts for dependence.
func (c *operator) wantUnits(v *operators.Values, t *tested) {
	if v.Text("UNITS") == "single" {
		return
	}
	separation, several := uint64(0), false
	if unit := c.terms.Unit; unit != nil {
		separation, several = unit.EventSeparation()
	}
	steps := uint64(0)
	if c.terms.Scope != nil {
		horizon := c.terms.Scope.Figures().Horizon
		steps = max(horizon, t.starts[0]) - t.starts[0]
	}
	v.Want("UNITS", several && steps > 0 && separation >= steps, "%s: several events of one unit make an experiment look surer than it is; "+
		"set ORIEL_UNITS=single if each unit sends one, or ORIEL_USER_ID with ORIEL_USER_SEPARATION of at least the experiment's steps and "+
		"ORIEL_WINDOW=horizon", v.Text("UNITS"))
}

// propensities parses p|p|…; it returns nil if the text is not a list of this form.
func propensities(s string) (list []float64) {
	for part := range strings.SplitSeq(s, "|") {
		p, err := text.ParseNumber(part)
		if err != nil || !(p >= 0.001 && p <= 0.999) {
			return nil
		}
		list = append(list, p)
	}
	return list
}

// canonical returns the section of a plan that describes the experiment; it follows the specification.
func (t *tested) canonical() string {
	if t == nil {
		return ""
	}
	var shares []string
	for _, p := range t.propensities {
		shares = append(shares, decimal(p))
	}
	return "always_valid=" + decimal(t.alpha) + "\npropensities=" + strings.Join(shares, "|") +
		"\nnear=" + decimal(t.near) + "\ntarget=" + decimal(t.target) + "\nlift=" + strconv.FormatBool(t.lift) +
		"\n" + stepLine + formatStarts(t.starts) + "\n"
}

// settings returns the settings of the experiment under a noise law.
func (c operator) settings(law mechanisms.NoiseLaw, batch uint64) experiment.Settings {
	s, t := &c.spec, c.test
	draw := float64(law.Draw * math.Sqrt(float64(s.comparison().treatments))) // the noise of cells is independent
	if c.exact {
		draw = float64(draw * almost)
	}
	e := experiment.Settings{
		Propensities: slices.Clone(t.propensities), Alpha: t.alpha, Near: (t.near - s.low) / (s.high - s.low),
		Target: t.target, Events: float64(batch), Start: t.starts[0], Announced: t.announced[0],
		Lift:  t.lift,
		Noise: experiment.Noise{Poles: law.Poles, Residues: law.Residues, Period: law.Period},
		Count: draw / s.weights.Count, Value: draw / s.weights.Mean,
		Rounding: float64(law.Rounding*float64(s.comparison().treatments)) / min(s.weights.Count, s.weights.Mean),
	}
	if s.weights.Square > 0 {
		e.Square = draw / s.weights.Square
	}
	return e
}

// testExtras returns the members that an experiment adds to decisions.
func (c operator) testExtras() []decision.Extra {
	if c.test == nil {
		return nil
	}
	add := func(all []decision.Extra, kind decision.ExtraKind, name, text string) []decision.Extra {
		return append(all, decision.Extra{Name: name, Kind: kind, Text: text})
	}
	sequence := func(all []decision.Extra, name, what string) []decision.Extra {
		all = add(all, decision.ExtraNumbers, name, what)
		all = add(all, decision.ExtraNumbers, name+"_low", "Lower ends of confidence sequences with "+name+".")
		return add(all, decision.ExtraNumbers, name+"_high", "Upper ends of confidence sequences with "+name+".")
	}
	all := sequence(nil, "effect", "What each arm but the control adds to the mean outcome, a weighted average over the experiment so far. "+
		"Its sequences cover sampling and the noise of privacy, of all arms at all looks together.")
	all = add(all, decision.ExtraNumbers, "effect_e", "e-values of no effect, by arm: one of 20 says at least as much as p = 0.05, at any time.")
	all = add(all, decision.ExtraNumbers, "effect_p", "p-values of no effect, by arm, valid at any time: the least 1/e so far.")
	if c.test.lift {
		all = sequence(all, "lift", "Each arm's mean outcome in units of the control's; an upper end of 1.7976931348623157e308 says that there is none.")
	}
	all = sequence(all, "arm_mean", "Mean outcome of each arm, the control first; each sequence holds by itself.")
	all = add(all, decision.ExtraText, "verdict", "The arms that were found better than the control, at some look; each stays so. not shown: none was. "+
		"It never says that there is no difference.")
	all = add(all, decision.ExtraNumber, "stop_allowed", "1 where the experiment may be stopped on what it says; 0 before its first look, and where counts "+
		"of arms do not fit their propensities.")
	all = add(all, decision.ExtraNumber, "balance_e", "e-value of the arms' counts: above 1000 arms are not drawn as the settings say, and there is no verdict.")
	all = add(all, decision.ExtraNumber, "looks", "Steps of the experiment so far.")
	all = add(all, decision.ExtraNumber, "recent", "About which part of the weight of effect the newer half of the events has: half if all weighed the same.")
	return append(all, decision.Extra{
		Name: "experiment", Kind: decision.ExtraNumber,
		Text: "Number of the stream's experiment, from 1: all members above are of it alone. It has a probability of failing of its own.",
	}, decision.Extra{
		Name: "experiment_step", Kind: decision.ExtraNumber, Text: "The first step of the experiment.",
	})
}

// Experiment describes the members that testExtras adds.
func (c operator) Experiment() *operators.Experiment {
	if c.test == nil {
		return nil
	}
	x := &operators.Experiment{
		Arms: c.spec.armNames(), Alpha: c.test.alpha, Outcome: c.spec.value, Low: c.spec.low, High: c.spec.high,
		Target: c.test.target, First: c.test.starts[0] + 1, Looks: experiment.FirstLook, Lift: c.test.lift,
		Assigned: func(e event.Event) (arm int, outcome float64) {
			cell, ok := c.spec.cell(e.Numbers)
			if !ok || cell < 0 || cell >= c.spec.product() {
				return -1, 0
			}
			of := c.spec.comparison()
			return cell / of.stride % of.arms, within(e.Numbers[len(e.Numbers)-1], c.spec.low, c.spec.high)
		},
	}
	if len(c.test.starts) > 1 {
		for _, start := range c.test.starts {
			x.Steps = append(x.Steps, start+1)
		}
	}
	return x
}

// Power returns after how many events an experiment detects an effect of the given size in any of its arms. If several
// experiments follow each other, it returns the largest of their numbers, because the noise depends on the step in
// which an experiment starts.
func (c operator) Power(law mechanisms.NoiseLaw, batch uint64, aim operators.Aim) (*operators.Power, error) {
	if c.test == nil {
		return nil, nil
	}
	steps := c.test.longest(maxTargetSteps, c.terms.Scope.Figures().Horizon)
	s, power := c.settings(law, batch), operators.Power{}
	if err := checkLaw(s); err != nil {
		return nil, err
	}
	width := c.spec.high - c.spec.low
	effect, deviation := aim.Effect/width, aim.Deviation/width
	if largest := s.MaxDeviation(); !(deviation >= 0 && deviation <= largest) {
		return nil, fmt.Errorf("deviation %g: outcomes of ORIEL_VALUE with the mean ORIEL_NEAR have one of at most %.4g",
			aim.Deviation, float64(largest*width))
	}
	for i, start := range c.test.starts {
		s.Start = start
		for arm := 1; arm < len(s.Propensities); arm++ {
			p := s.Plan(arm, effect, deviation, aim.Probability, steps)
			power.OneLook = max(power.OneLook, p.OneLook)
			if i == 0 && arm == 1 {
				power.WithoutPrivacy, power.Events = p.NoPrivacy, p.AlwaysLook
			}
			power.WithoutPrivacy, power.Events = longer(power.WithoutPrivacy, p.NoPrivacy), longer(power.Events, p.AlwaysLook)
		}
	}
	power.MaxEvents = float64(float64(steps) * float64(batch))
	announced, ahead := s.TargetSteps(), (operators.Announced(batch)+batch-1)/batch
	for range laterStarts {
		if wider, fits := c.wider(s, announced+ahead, announced); fits {
			power.Later = append(power.Later, operators.LaterStart{StepsAhead: ahead, Wider: wider})
		}
		ahead *= laterFactor
	}
	return &power, nil
}

// Plans show laterStarts distances between the announcement of an experiment and its start: the least one, and
// multiples of it.
const (
	laterStarts = 4
	laterFactor = 4
)

// Wider returns operators.Testing's Wider.
func (c operator) Wider(law mechanisms.NoiseLaw, batch, step, announced uint64) float64 {
	wider, _ := c.wider(c.settings(law, batch), step-1, announced)
	return wider
}

// wider returns Wider for an experiment after `start` steps. It is false where the horizon ends before the experiment
// has as many events as its first look.
func (c operator) wider(s experiment.Settings, start, announced uint64) (wider float64, fits bool) {
	s.Start, s.Announced = start, announced
	steps := s.TargetSteps()
	if scope := c.terms.Scope; scope != nil && scope.Figures().Horizon > 0 {
		steps = min(steps, max(scope.Figures().Horizon, start)-start)
	}
	if float64(float64(steps)*s.Events) < experiment.FirstLook {
		return 1, false
	}
	return s.Wider(steps), true
}

// checkLaw refuses settings whose noise could make some weights of an experiment negative. Some filters with four poles
// do.
func checkLaw(s experiment.Settings) error {
	if err := s.Validate(); err != nil {
		return fmt.Errorf("aggregate: ORIEL_POLES: %w; leave it out", err)
	}
	return nil
}

// longer returns the larger of two numbers of events. A number of 0 means never, and counts as the largest.
func longer(a, b float64) float64 {
	if a == 0 || b == 0 {
		return 0
	}
	return max(a, b)
}
