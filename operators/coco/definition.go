package coco

import (
	"fmt"
	"slices"

	"oriel/mechanisms"
	"oriel/mechanisms/protection"
	"oriel/operators"
	"oriel/operators/coco/band"
	"oriel/operators/convex"
	"oriel/operators/convex/catalogue"
	"oriel/operators/description"
	"oriel/operators/loss"
	"oriel/operators/setting"
	"oriel/schemas/decision"
)

// Definition is the entry of coco in the registry of operators.
var Definition = operators.Definition{
	Name: "coco", Text: "constrained online convex optimisation: one loss, one set, one private sum of gradients",
	Settings: slices.Concat(settings, band.Rows), Events: events,
	New: configure,
}

// These are the forms of ORIEL_DECISIONS.
const dense, sparse = "dense", "sparse"

var settings = []setting.Row{
	{
		Name: "UPDATE", Kind: setting.Text, Unit: "name", Choices: []string{Projection, LLO, OGD}, Required: true,
		Text: "algorithm for the next decision: Euclidean projection, a local linear oracle, or gradient " +
			"descent on each step's own gradient (once-* only)",
	},
	{
		Name: "CONSTANTS", Kind: setting.Text, Unit: "name", Choices: []string{Proved, Search}, Default: Proved,
		Text: "step size of llo. search: the step that lowers the noisy objective most. proved: has a regret " +
			"bound, but decisions move little",
	},
	{
		Name: "FIRST", Kind: setting.Text, Unit: "name", Choices: []string{Spread, Vertex}, Default: Spread,
		Text: "first decision: spread over the set, or with ORIEL_CONSTANTS=search a vertex; each step then " +
			"adds at most one vertex to the mix",
	},
	{
		Name: "LOSS", Kind: setting.Text, Unit: "name", Choices: loss.Names(), Required: true, Decodes: true,
		Text: "loss of one event",
	},
	{
		Name: "QUANTILE", Kind: setting.Number, Unit: "probability",
		Bounds: setting.Between(0, 1), Range: "above 0, below 1; with ORIEL_LOSS=quantile",
		Text: "τ of the quantile loss, which needs it: the share of labels below a decision. With " +
			"ORIEL_DIMENSION=1 the decision may be a threshold",
	},
	catalogue.Setting("SET",
		"feasible set of decisions. ORIEL_UPDATE=llo takes all but l2-ball; the other updates take all but flow, matching, vertices, trees, "+
			"forests and trace-norm"),
	catalogue.Setting("RADIUS",
		"R: size of the set, for example the radius of a ball or the sum of a simplex; README.md of coco lists all sets"),
	catalogue.Setting("PICK",
		"k of ORIEL_SET=subsets (convex combinations of sets of k of d elements, times R) and subsets-at-most (of "+
			"sets of k or fewer)"),
	catalogue.Setting("BLOCKS",
		"blocks of ORIEL_SET=partition (convex combinations of sets with exactly pick coordinates from each block, "+
			"times R) and partition-at-most (at most pick from each)"),
	catalogue.Setting("WORTHS",
		"values of the first places of ORIEL_SET=ranking, which needs this setting; later places have the value 0. "+
			"Decisions are convex combinations of rankings, times R"),
	catalogue.Setting("ROWS",
		"number of rows of the matrices of ORIEL_SET=trace-norm, which needs this setting. Decisions are matrices, row by row"),
	catalogue.Setting("EDGES",
		"the graph of ORIEL_SET=flow (acyclic, one source, one sink), trees (connected) or forests; one "+
			"coordinate for each edge. Replay must have the same file"),
	catalogue.Setting("VERTICES",
		"the points of ORIEL_SET=vertices: decisions are their convex combinations, times the radius; it needs ORIEL_UPDATE=llo and "+
			"ORIEL_CONSTANTS=search. Replay must have the same file"),
	catalogue.Setting("LOW", "lower end of each coordinate of ORIEL_SET=box, together with ORIEL_HIGH and instead of ORIEL_RADIUS"),
	catalogue.Setting("HIGH", "upper end of each coordinate of ORIEL_SET=box, together with ORIEL_LOW"),
	setting.Dimension("dimension d of decisions and feature vectors"),
	{
		Name: "CLIP", Kind: setting.Number, Unit: "loss/length", Bounds: setting.Above(0, 1e12), Required: true,
		Text: "L: each event's gradient is clipped to this Euclidean norm",
	},
	{
		Name: "FEATURES_MAX", Kind: setting.Number, Unit: "feature norm",
		Bounds: setting.From(0, 1e12), Default: "0",
		Text: "largest norm of features: smaller sensitivity for logistic and quantile losses, and squared " +
			"ones with ORIEL_LABEL_MAX. 0: unknown, or 1 if scaled",
	},
	{
		Name: "WEIGHT_MAX", Kind: setting.Number, Unit: "weight",
		Bounds: setting.From(0, 1e12), Default: "0",
		Text: "largest weight of an event, for ORIEL_FEATURES_MAX. 0 stands for 1, or for logistic and quantile losses the largest weight that the clip allows",
	},
	{
		Name: "LABEL_MAX", Kind: setting.Number, Unit: "label", Bounds: setting.From(0, 1e12), Default: "0",
		Text: "largest absolute value of a label of the squared loss, for ORIEL_FEATURES_MAX. 0: unknown",
	},
	{
		Name: "STRONG_CONVEXITY", Kind: setting.Number, Unit: "1/length²",
		Bounds: setting.From(1e-12, 1e12), Required: true,
		Text: "µ of the public regulariser µ/2·|x|² added to each event's loss; it must be chosen without looking at private data",
	},
	{
		Name: "START_REGULARIZER", Kind: setting.Number, Unit: "1/length²", Bounds: setting.From(0, 1e12), Default: "0",
		Text: "λ₀, public regulariser that damps the first steps; `oriel plan` advises one",
	},
	{
		Name: "OWN_CONVEXITY", Kind: setting.Flag, Unit: "bool", Default: "false",
		Text: "the losses are µ-strongly convex by themselves: no regulariser is added",
	},
	{
		Name: "CONFIDENCE", Kind: setting.Number, Unit: "probability", Bounds: setting.Between(0, 1), Default: "0.99",
		Text: "probability that the llo update's error bound holds over ORIEL_ROUNDS steps; concerns accuracy, never privacy",
	},
	{
		Name: "START_POINT", Kind: setting.File, Unit: "file", Entry: isDecision,
		Range: "a decision, one line of JSON; with ORIEL_MEMORY",
		Text: "first decision: a published decision of an earlier deployment, as `oriel tail --raw` prints it. It is public, so " +
			"it costs no privacy. Replay must have the same file",
	},
	setting.EmitEvery("1", "number of steps between two decisions; the privacy account covers all steps"),
	{
		Name: "DECISIONS", Kind: setting.Text, Unit: "name", Choices: []string{dense, sparse}, Default: dense,
		Text: "dense: a number for each coordinate. sparse: each value that is not 0 once, with its " +
			"coordinates; up to 240000 coordinates",
	},
}

func events(v *setting.Values) operators.Events {
	d := v.Dimension()
	body, _ := loss.Body(v.Text("LOSS"), d) // no error: LOSS is one of its choices
	return operators.Events{Body: body, Dimension: d}
}

func configure(v *setting.Values) (operators.Operator, error) {
	v.Want("SET", v.Text("LOSS") != "portfolio" || v.Text("SET") == "simplex",
		"%q: the portfolio loss is defined on the simplex only", v.Text("SET"))
	quantile := v.Number("QUANTILE")
	v.Want("QUANTILE", v.Text("LOSS") != "quantile" || quantile > 0, "not set; ORIEL_LOSS=quantile needs it")
	start, confidence, every := v.Number("START_REGULARIZER"), v.Number("CONFIDENCE"), v.Count("EMIT_EVERY")
	v.Want("CONFIDENCE", confidence == 0 || 1-confidence < 1, "%g: too small to differ from 0", confidence)
	_, decays := v.Terms.Scope.Memory() // with a memory, other constants are refused
	bound := v.Text("UPDATE") == LLO && v.Text("CONSTANTS") != Search && !decays
	v.Want("ROUNDS", !bound || v.Rounds >= 1 || !v.Sound("HORIZON"),
		"not set; ORIEL_UPDATE=llo needs the number of steps over which its error bound holds")
	features := v.Number("FEATURES_MAX")
	if features == 0 && v.Norm == "unit" {
		features = 1
	}
	point := wantStartPoint(v, decays)
	v.Want("DECISIONS", v.Text("DECISIONS") != sparse || v.Count("DIMENSION") <= decision.MaxSparse,
		"sparse: of %d coordinates: more than %d", v.Count("DIMENSION"), decision.MaxSparse)
	v.Want("FIRST", v.Text("FIRST") != Vertex || v.Text("UPDATE") == LLO && v.Text("CONSTANTS") == Search,
		"vertex: only ORIEL_UPDATE=llo with ORIEL_CONSTANTS=search begins there")
	wantReleases(v)
	b := band.Want(v, features)
	v.Want("BAND", b.Level == 0 || v.Text("UPDATE") == Projection ||
		v.Text("UPDATE") == LLO && v.Text("CONSTANTS") == Search,
		"wants ORIEL_UPDATE=projection, or llo with ORIEL_CONSTANTS=search")
	set := catalogue.Want(v)
	if err := v.Err(); err != nil {
		return nil, err
	}
	l, err := loss.Parse(v.Text("LOSS"), quantile)
	if err != nil {
		return nil, err
	}
	c := Config{
		Update: v.Text("UPDATE"), Constants: v.Text("CONSTANTS"), First: v.Text("FIRST"), Loss: l, Set: set,
		Clip: v.Number("CLIP"), StrongConvexity: v.Number("STRONG_CONVEXITY"), StartRegularizer: start,
		FeaturesMax: features, WeightMax: v.Number("WEIGHT_MAX"), LabelMax: v.Number("LABEL_MAX"),
		OwnConvexity: v.Flag("OWN_CONVEXITY"), Band: b, Rounds: v.Rounds, Failure: 1 - confidence, EmitEvery: every,
		StartPoint: point,
	}
	form := decision.Dense
	if v.Text("DECISIONS") == sparse {
		form = decision.Sparse
	}
	return operator{Config: c, radius: catalogue.Radius(v, c.Set), terms: v.Terms, form: form}, c.Validate()
}

// isDecision reports whether a line of ORIEL_START_POINT is a decision.
func isDecision(line string) (canonical string, ok bool) {
	d, err := decision.Parse([]byte(line))
	return line, err == nil && d.Encoding == decision.JSON
}

// wantStartPoint returns the decision in the file of ORIEL_START_POINT, or nil if it is not set.
func wantStartPoint(v *setting.Values, decays bool) *operators.Decision {
	lines := v.Entries("START_POINT")
	if len(lines) == 0 {
		return nil
	}
	v.Want("START_POINT", decays, "set, but without ORIEL_MEMORY the noise of this decision would stay in the sums for ever; leave it out")
	v.Want("START_POINT", len(lines) == 1, "%d decisions in the file: all streams start from one; leave the others out", len(lines))
	d, _ := decision.Parse([]byte(lines[0])) // no error: isDecision has checked the line
	v.Want("START_POINT", d.Step > 0 && len(d.Point) == v.Dimension(),
		"the decision of step %d has %d coordinates: want a step after 0, and as many coordinates as ORIEL_DIMENSION", d.Step, len(d.Point))
	return &operators.Decision{Index: d.Index, Step: d.Step, Point: d.Point}
}

// wantReleases refuses an update that cannot learn from the mechanism's releases.
func wantReleases(v *setting.Values) {
	facts, _ := mechanisms.FactsOf(v.Mechanism)
	update, once := v.Text("UPDATE"), facts.EachStep()
	_, decays := v.Terms.Scope.Memory()
	v.Want("MECHANISM", !facts.Discrete(), "%s: noise of ℓ1 distances, in which gradients are long; take once-gamma", v.Mechanism)
	v.Want("UPDATE", update != OGD || once, "ogd: learns from releases of single steps, ORIEL_MECHANISM=%s releases prefix "+
		"sums; take once-gaussian or once-gamma, or ORIEL_UPDATE=projection", v.Mechanism)
	v.Want("UPDATE", !decays || update != OGD, "ogd: with ORIEL_MEMORY sums decay, and ORIEL_UPDATE=projection, or llo with "+
		"ORIEL_CONSTANTS=search, learn from such")
	v.Want("CONSTANTS", !decays || update != LLO || v.Text("CONSTANTS") == Search, "%s: these constants bound "+
		"regret of sums that do not decay, and with ORIEL_MEMORY they do; take ORIEL_CONSTANTS=search, which has no bound "+
		"to lose, or ORIEL_UPDATE=projection", v.Text("CONSTANTS"))
	v.Want("OWN_CONVEXITY", !decays || !v.Flag("OWN_CONVEXITY"),
		"true: with ORIEL_MEMORY the regulariser is the public one")
	v.Want("UPDATE", update == OGD || !once, "%s: learns from prefix sums, but ORIEL_MECHANISM=%s releases single steps; take "+
		"ORIEL_UPDATE=ogd, or blt", update, v.Mechanism)
}

// operator implements operators.Operator.
type operator struct {
	Config

	radius float64          // radius of the set
	terms  protection.Terms // who is protected, and for how long
	form   decision.Form
}

var (
	_ operators.Formatted = operator{}
	_ operators.Scorer    = operator{}
	_ operators.Thinning  = operator{}
	_ operators.Cautious  = operator{}
	_ operators.Audited   = operator{}
	_ operators.Costed    = operator{}
)

// Cautions warns about the squared loss without a start regulariser, because the first decisions are then mostly noise.
func (c operator) Cautions() []string {
	score := c.Score()
	if score == nil || score.Predicts != operators.Mean || c.Update != Projection || c.StartRegularizer > 0 {
		return nil
	}
	return []string{"ORIEL_LOSS=squared without ORIEL_START_REGULARIZER: noise alone decides the first decisions, and they can predict " +
		"far worse than a constant for thousands of events. Take the value that `oriel plan` advises, or ORIEL_OPERATOR=ridge, which learns " +
		"from fewer events"}
}

func (c operator) Form() decision.Form { return c.form }

func (c operator) Extras() []decision.Extra { return c.members(c.terms).Extras() }

// Require sets the contribution by the rule of the stored params or, without params, by the sharpest rule. It also sets
// the failure probability of the error bound that proved constants need.
func (c operator) Require(m *mechanisms.Config, params []byte) error {
	p := Params{Contributions: c.contributions(*m), Band: c.Band.Columns(c.Loss, m.Unit)}
	if params != nil {
		var err error
		if p, err = ParseParams(params); err != nil {
			return err
		}
	}
	m.Contribution, m.Failure = p.contribution(c.Config), c.StepFailure()
	return nil
}

// Params freezes the values that are computed once, for example the rule of contributions.
func (c operator) Params(m mechanisms.Config) ([]byte, error) {
	p, err := c.NewParams(m)
	if err != nil {
		return nil, err
	}
	return p.AppendBinary(nil)
}

func (c operator) Open(params []byte, sums *mechanisms.Stream) (operators.Machine, error) {
	p, err := ParseParams(params)
	if err != nil {
		return nil, err
	}
	return New(c.Config, p, sums)
}

// Describe describes, among other figures, the noise in a decision. The projection update publishes the projection of
// −ĝ_t/(µBt + λ₀), with N_t in place of t if sums decay.
func (c operator) Describe(m mechanisms.Config) description.Figures {
	d := description.Figures{
		Radius: c.radius, Diameter: c.Set.Diameter(), Clip: c.Clip, Distance: c.contributions(m).String(), Steps: c.steps(),
		Searched: c.searches(),
	}
	if c.Band.Level > 0 {
		rule := c.rule()
		d.Band = rule.Describe(c.Band.Columns(c.Loss, m.Unit), m.Batch)
		d.Mechanisms = slices.DeleteFunc(mechanisms.Names(), func(name string) bool { return !band.HasBound(name) })
	}
	if c.Update == Projection {
		d.Damping = &description.Damping{
			Start: c.StartRegularizer, Step: float64(c.StrongConvexity * float64(m.Batch)),
		}
	}
	return d
}

// steps describes in words how far the llo update moves in a step.
func (c operator) steps() string {
	oracle, err := convex.NewLocalOracle(c.Set)
	switch {
	case err != nil || c.Update != LLO:
		return ""
	case c.Constants == Search:
		return "a step is searched for; no bound on regret is proved"
	}
	alpha := newConstants(c.Config, &objective{}, oracle.Ratio(), 1, 0).alpha
	text := fmt.Sprintf("a decision goes %.2g of the way that it could in a step (α = 1/2ρ², ρ = %.3g)", alpha, oracle.Ratio())
	if alpha < 1e-3 {
		text += fmt.Sprintf(": the decision has hardly moved before %.0e steps; ORIEL_CONSTANTS=search moves, with no bound on regret", 1/alpha)
	}
	return text
}

func (c operator) EmitAll() operators.Operator {
	c.EmitEvery = 1
	return c
}

func (c operator) ReferenceModel(params []byte) (operators.ReferenceModel, error) {
	p, err := ParseParams(params)
	if err != nil {
		return nil, err
	}
	first := make([]float64, c.Set.Dimension())
	c.start(first, p.Past)
	return &reference{
		config: c.Config, members: c.members(c.terms), tangent: c.tangent(), contributions: p.Contributions, first: first,
		decision: make([]float64, len(first)), band: band.Reference{Settings: c.Band, Loss: c.Loss, Reach: c.reach()},
	}, nil
}

// Score returns the configured loss, without the public regulariser, for scoring decisions.
func (c operator) Score() *operators.Score {
	s := &operators.Score{Start: make([]float64, c.Set.Dimension()), Loss: c.Loss.Value, Predict: loss.Predict}
	c.start(s.Start, Inherited{})
	if c.Update == Projection {
		s.Noise = func(release float64, batch, step uint64) float64 {
			o := objective{
				convexity: float64(c.StrongConvexity * float64(batch)), start: c.StartRegularizer, scope: c.terms.Scope,
			}
			return min(release/o.curvature(step), c.Set.MaxNorm()) // a number within ±R cannot deviate by more than R
		}
	}
	if c.Band.Level > 0 {
		rule := c.rule()
		s.Band = rule.Score()
	}
	switch l := c.Loss.(type) {
	case loss.Logistic:
		s.Predicts = operators.LogOdds
	case loss.Hinge:
		s.Predicts = operators.Side
	case loss.Squared:
		s.Predicts = operators.Mean
	case loss.Absolute:
		s.Predicts, s.Level = operators.Quantile, 0.5
	case loss.Quantile:
		s.Predicts, s.Level, s.Predict = operators.Quantile, l.Tau, l.Predict
	case loss.Portfolio:
		s.Predicts = operators.Growth
	}
	return s
}
