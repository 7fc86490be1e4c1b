package coco

import (
	"math"
	"strings"

	"oriel/mechanisms"
	"oriel/operators"
	"oriel/operators/convex"
	"oriel/operators/loss"
)

// Family is coco in the table of operators.
var Family = operators.Family{
	Name: "coco", Text: "constrained online convex optimisation: one loss, one set, one private sum of gradients",
	Settings: settings, Events: events, New: configure,
}

var settings = []operators.Setting{
	{
		Name: "UPDATE", Kind: operators.Text, Unit: "name", Choices: []string{Projection, LLO, OGD}, Required: true,
		Text: "how the next decision is found: Euclidean projection, one call of a local linear oracle, or online gradient " +
			"descent on each step's own noisy gradient (once-gaussian and once-gamma only)",
	},
	{
		Name: "CONSTANTS", Kind: operators.Text, Unit: "name", Choices: []string{Proved, Paper}, Default: Proved,
		Text: "constants of the llo update: proved here, or as the paper prints them",
	},
	{
		Name: "LOSS", Kind: operators.Text, Unit: "name", Choices: loss.Names(), Required: true, Decodes: true,
		Text: "loss of one event",
	},
	{
		Name: "SET", Kind: operators.Text, Unit: "name", Choices: convex.Names(), Required: true,
		Text: "feasible set of decisions; llo needs l1-ball, simplex or box",
	},
	{
		Name: "RADIUS", Kind: operators.Number, Unit: "length", Range: "1e-15 to 1e15", Required: true,
		Text: "ball radius; scale of the simplex; box [-R, R]^d",
	},
	{
		Name: "DIMENSION", Kind: operators.Count, Unit: "coordinates", Range: "1 to 262144", Required: true, Decodes: true,
		Text: "dimension d of decisions and feature vectors",
	},
	{
		Name: "CLIP", Kind: operators.Number, Unit: "loss/length", Range: "above 0, at most 1e12", Required: true,
		Text: "L: each event's gradient is clipped to this Euclidean norm",
	},
	{
		Name: "STRONG_CONVEXITY", Kind: operators.Number, Unit: "1/length²", Range: "1e-12 to 1e12", Required: true,
		Text: "µ of the public regulariser µ/2·|x|² added to each event's loss; choose it without looking at private data",
	},
	{
		Name: "START_REGULARIZER", Kind: operators.Number, Unit: "1/length²", Range: "0 to 1e12", Default: "0",
		Text: "λ₀, public regulariser that damps the first steps",
	},
	{
		Name: "OWN_CONVEXITY", Kind: operators.Flag, Unit: "bool", Default: "false",
		Text: "the losses are µ-strongly convex by themselves: no regulariser is added",
	},
	{
		Name: "CONFIDENCE", Kind: operators.Number, Unit: "probability", Range: "above 0, below 1", Default: "0.99",
		Text: "probability that the llo update's error bound holds over the horizon; concerns accuracy, never privacy",
	},
	{
		Name: "EMIT_EVERY", Kind: operators.Count, Unit: "steps", Range: "≥ 1", Default: "1",
		Text: "a decision is emitted every so many steps; the privacy account covers all steps",
	},
}

func events(v *operators.Values) operators.Events {
	d := v.Count("DIMENSION")
	v.Want("DIMENSION", d >= 1 && d <= operators.MaxDimension, "%d: not within 1 to %d", d, operators.MaxDimension)
	return operators.Events{Loss: v.Text("LOSS"), Dimension: int(min(d, operators.MaxDimension))}
}

func configure(v *operators.Values) (operators.Configured, error) {
	v.Want("SET", v.Text("LOSS") != "portfolio" || v.Text("SET") == "simplex",
		"%q: the portfolio loss is defined on the simplex only", v.Text("SET"))
	for _, name := range []string{"RADIUS", "STRONG_CONVEXITY", "CLIP"} {
		v.Positive(name, v.Number(name))
	}
	start, confidence, every := v.Number("START_REGULARIZER"), v.Number("CONFIDENCE"), v.Count("EMIT_EVERY")
	v.Want("START_REGULARIZER", start >= 0 && !math.IsInf(start, 1), "%g: not at least 0 and finite", start)
	v.Want("CONFIDENCE", confidence > 0 && confidence < 1, "%g: not between 0 and 1", confidence)
	v.Want("EMIT_EVERY", every >= 1, "%d: not at least 1", every)
	v.Want("HORIZON", v.Text("UPDATE") != LLO || v.Horizon >= 1,
		"not set; ORIEL_UPDATE=llo needs the number of steps over which its error bound holds")
	wantReleases(v)
	if err := v.Err(); err != nil {
		return nil, err
	}
	l, err := loss.Parse(v.Text("LOSS"))
	if err != nil {
		return nil, err
	}
	set, err := convex.Parse(v.Text("SET"), int(v.Count("DIMENSION")), v.Number("RADIUS"))
	if err != nil {
		return nil, err
	}
	c := Config{
		Update: v.Text("UPDATE"), Constants: v.Text("CONSTANTS"), Loss: l, Set: set,
		Clip: v.Number("CLIP"), StrongConvexity: v.Number("STRONG_CONVEXITY"), StartRegularizer: start,
		OwnConvexity: v.Flag("OWN_CONVEXITY"), Horizon: v.Horizon, Failure: 1 - confidence, EmitEvery: every,
	}
	return configured{Config: c, radius: v.Number("RADIUS")}, c.Validate()
}

// wantReleases refuses an update with releases that it cannot learn from.
func wantReleases(v *operators.Values) {
	update, once := v.Text("UPDATE"), strings.HasPrefix(v.Mechanism, "once-")
	v.Want("UPDATE", update != OGD || once, "ogd: learns from releases of single steps, ORIEL_MECHANISM=%s releases prefix "+
		"sums; take once-gaussian or once-gamma, or ORIEL_UPDATE=projection", v.Mechanism)
	v.Want("UPDATE", update == OGD || !once, "%s: learns from prefix sums, ORIEL_MECHANISM=%s releases single steps; take "+
		"ORIEL_UPDATE=ogd, or blt", update, v.Mechanism)
}

// configured is an operators.Configured.
type configured struct {
	operators.Plain
	Config

	radius float64 // of the set
}

var _ operators.Configured = configured{}

// Mechanism asks for the error bound that proved constants need, and tells the sensitivity that the paper prints.
func (c configured) Mechanism(m *mechanisms.Config) {
	m.Dimension, m.Clip, m.Failure = c.Set.Dimension(), c.Clip, c.StepFailure()
	if strings.HasSuffix(m.Name, "-paper") {
		m.PaperSensitivity = c.PaperSensitivity()
	}
}

// Plan freezes the paper's C_W.
func (c configured) Plan(m mechanisms.Config) ([]byte, error) {
	p, err := c.NewPlan(m)
	if err != nil {
		return nil, err
	}
	return p.AppendBinary(nil)
}

// Open returns a Machine.
func (c configured) Open(plan []byte, sums *mechanisms.Stream) (operators.Machine, error) {
	p, err := ParsePlan(plan)
	if err != nil {
		return nil, err
	}
	return New(c.Config, p, sums)
}

// Describe tells how much noise a decision of the projection update holds: it is the projection of −ĝ_t/(µBt + λ₀).
func (c configured) Describe(m mechanisms.Config) operators.Description {
	d := operators.Description{Radius: c.radius}
	if c.Update == Projection {
		d.Damping = &operators.Damping{Start: c.StartRegularizer, Step: float64(c.StrongConvexity * float64(m.Batch))}
	}
	return d
}

// Every publishes the decision of each step.
func (c configured) Every() operators.Configured {
	c.EmitEvery = 1
	return c
}

// Twin returns what an audit compares machines with.
func (c configured) Twin() operators.Twin {
	return &twin{config: c.Config, decision: make([]float64, c.Set.Dimension())}
}
