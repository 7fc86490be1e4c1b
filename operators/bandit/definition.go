package bandit

import (
	"errors"
	"fmt"

	"oriel/mechanisms"
	"oriel/mechanisms/contribution"
	"oriel/mechanisms/protection"
	"oriel/operators"
	"oriel/operators/actions"
	"oriel/operators/convex"
	"oriel/operators/convex/catalogue"
	"oriel/operators/description"
	"oriel/operators/setting"
	"oriel/schemas/decision"
	"oriel/schemas/event"
)

// Definition is the entry of bandit in the registry of operators.
var Definition = operators.Definition{
	Name: "bandit", Text: "bandit over a convex set: plays go out ahead, their losses come back as events",
	Settings: settings, Events: events,
	New: configure,
}

// These are values of settings.
const (
	frankWolfe = "frank-wolfe"
	projected  = "projection"
)

var settings = append([]setting.Row{
	catalogue.Setting("SET", "feasible set of centres, and with ORIEL_SHRINK of plays"),
	catalogue.Setting("RADIUS",
		"R: size of the set, for example the radius of a ball or the sum of a simplex; README.md of coco lists all sets"),
	{
		Name: "DIMENSION", Kind: setting.Count, Unit: "coordinates",
		Bounds: setting.From(1, setting.MaxDimension), Required: true,
		Text: "dimension n of plays",
	},
	catalogue.Setting("PICK", "k, the size of subsets of ORIEL_SET=subsets and subsets-at-most, which need this setting"),
	catalogue.Setting("EDGES",
		"the graph of ORIEL_SET=flow (acyclic), trees (connected) or forests (any); one coordinate for each edge. Replay "+
			"needs the same file"),
	catalogue.Setting("BLOCKS", "the blocks of ORIEL_SET=partition and partition-at-most, which need this setting; the blocks take the coordinates in order"),
	catalogue.Setting("WORTHS",
		"values of the first places of ORIEL_SET=ranking, which needs this setting; later places have the value 0"),
	catalogue.Setting("ROWS",
		"number of rows of the matrices of ORIEL_SET=trace-norm, which needs this setting. Plays are matrices, row by row"),
	catalogue.Setting("VERTICES",
		"the points of ORIEL_SET=vertices: centres are their convex combinations, times the radius. Replay must have the same file"),
	catalogue.Setting("LOW", "lower end of each coordinate of ORIEL_SET=box, together with ORIEL_HIGH and instead of ORIEL_RADIUS"),
	catalogue.Setting("HIGH", "upper end of each coordinate of ORIEL_SET=box, together with ORIEL_LOW"),
	{
		Name: "LOSS_RANGE", Kind: setting.Text, Form: setting.IsRange,
		Unit: "low:high", Range: "ends up to 1e12 in size", Default: "0:1",
		Text: "public range of losses: losses outside are clamped to it",
	},
	{
		Name: "BASELINE", Kind: setting.Number, Unit: "share", Bounds: setting.From(0, 1), Default: "0",
		Text: "a first guess of the mean loss, as a share of its range from the lower end; a good guess makes gradients less noisy",
	},
	{
		Name: "LIPSCHITZ", Kind: setting.Number, Unit: "loss/length", Bounds: setting.Above(0, 1e12), Default: "1",
		Text: "Lipschitz constant of the losses. With it and ORIEL_ROUNDS, ORIEL_SMOOTHING and ORIEL_RATE have " +
			"the paper's values",
	},
	{
		Name: "SMOOTHING", Kind: setting.Number, Unit: "length", Bounds: setting.From(0, 1e12), Default: "0",
		Text: "ζ, the distance of a play from its centre. A larger ζ shows the slope better, and the value at the centre worse. 0: from ORIEL_ROUNDS",
	},
	{
		Name: "RATE", Kind: setting.Number, Unit: "length²/loss", Bounds: setting.From(0, 1e12), Default: "0",
		Text: "η, the learning rate: how far a centre follows the sum of slopes. 0: the paper's value, which needs ORIEL_ROUNDS",
	},
	{
		Name: "SHRINK", Kind: setting.Flag, Unit: "bool", Default: "true",
		Text: "true: every play is in the set, because centres keep a distance from its edge. false: plays " +
			"leave the set by up to ORIEL_SMOOTHING",
	},
	{
		Name: "UPDATE", Kind: setting.Text, Unit: "name", Choices: []string{frankWolfe, projected}, Default: frankWolfe,
		Text: "algorithm for the centre: linear minimisations only, or an exact projection, which only some " +
			"sets have",
	},
	{
		Name: "PRECISION", Kind: setting.Number, Unit: "length",
		Bounds: setting.From(0, 1e15), Range: "0 to the set's diameter", Default: "0",
		Text: "greatest distance from the exact centre for frank-wolfe, in at most 4·(diameter/precision)² linear " +
			"minimisations. 0: diameter/√ORIEL_BATCH",
	},
	{
		Name: "DOUBLING", Kind: setting.Flag, Unit: "bool", Default: "false",
		Text: "use the constants for 1, 2, 4, … steps in turn, up to ORIEL_ROUNDS, if the number of steps is " +
			"unknown",
	},
}, actions.Settings("about one centre")...)

var body = event.Body{
	Name: "bandit", Text: "The loss of a play; the record key is the play's index.",
	Members: []event.Member{{Name: "loss", Kind: event.KindNumber, Text: "The cost of the play."}},
}

func events(*setting.Values) operators.Events { return operators.Events{Body: body, Keyed: true} }

func configure(v *setting.Values) (operators.Operator, error) {
	table, losses := actions.Read(v), v.Range("LOSS_RANGE")
	base := v.Number("BASELINE")
	for _, name := range []string{"SMOOTHING", "RATE"} {
		v.Want(name, v.Number(name) > 0 || v.Rounds > 0,
			"not set, and neither is ORIEL_ROUNDS, which the paper's value needs")
	}
	facts, known := mechanisms.FactsOf(v.Mechanism)
	v.Want("MECHANISM", !known || !facts.EachStep(), "%s: learns from sums, and this mechanism releases single steps; set ORIEL_MECHANISM=blt",
		v.Mechanism)
	v.Want("DOUBLING", !v.Flag("DOUBLING") || v.Rounds > 0,
		"true: needs ORIEL_ROUNDS, the largest number of steps")
	v.Want("DOUBLING", !v.Flag("DOUBLING") || v.Number("SMOOTHING") == 0 && v.Number("RATE") == 0,
		"true: takes the paper's ORIEL_SMOOTHING and ORIEL_RATE of each episode, and no others")
	set := catalogue.Want(v)
	if err := v.Err(); err != nil {
		return nil, err
	}
	c := Config{
		Set: set, Losses: losses, Baseline: base, Lipschitz: v.Number("LIPSCHITZ"), Rounds: v.Rounds,
		Smoothing: v.Number("SMOOTHING"), Rate: v.Number("RATE"), Shrink: v.Flag("SHRINK"),
		Projected: v.Text("UPDATE") == projected, Precision: v.Number("PRECISION"),
		Doubling: v.Flag("DOUBLING"), Actions: table,
	}
	var err error
	c.shape, err = newShape(set, c.Shrink)
	v.Want("SHRINK", err == nil, "true: %v; false lets plays leave the set by ORIEL_SMOOTHING", err)
	v.Want("PRECISION", c.Precision >= 0 && c.Precision <= set.Diameter(), "%g: not from 0 to the set's diameter %g",
		c.Precision, set.Diameter())
	v.Want("PRECISION", c.Precision == 0 || !c.Projected, "%g: ORIEL_UPDATE=projection is exact", c.Precision)
	if c.Projected {
		_, err := convex.NewProjection(set)
		v.Want("UPDATE", err == nil, "%v", err)
	}
	if err := v.Err(); err != nil {
		return nil, err
	}
	return operator{Config: c, radius: catalogue.Radius(v, c.Set), terms: v.Terms}, c.Validate()
}

// operator implements operators.Operator.
type operator struct {
	Config

	radius float64
	terms  protection.Terms // who is protected, and for how long
}

var (
	_ operators.Thinning = operator{}
	_ operators.Audited  = operator{}
)

// members are the centre, the estimated baseline, and those of a lifetime promise.
type members struct {
	operators.Members
	centre   operators.NumbersMember
	baseline operators.NumberMember
}

func (c Config) members(t protection.Terms) *members {
	m := &members{}
	m.centre = m.Numbers("centre", "The best point known. Where nothing is to be learned, take this. The plays of a round surround a point "+
		"nearer to the middle of the set, so that they stay in the set.", c.Set.Dimension())
	m.baseline = m.Number("baseline", "The point from which losses of the open step are measured: their mean, as found in earlier releases.")
	m.Lifetime(t)
	return m
}

func (c operator) Extras() []decision.Extra { return c.members(c.terms).Extras() }

// Require sets the contribution: loss·u in units of half the range of losses, in a ball about a public centre on the
// line of u.
func (c operator) Require(m *mechanisms.Config, params []byte) error {
	if _, several := m.Unit.EventSeparation(); several {
		return errors.New("bandit: there is no user level: answers of a round are added in one step, so two of a user that came far apart may move one release")
	}
	p := c.paramsFor(*m)
	if params != nil {
		var err error
		if p, err = ParseParams(params); err != nil {
			return err
		}
	}
	ball := contribution.Ball{Size: c.Set.Dimension(), Radius: 1, Reach: p.Centres}
	m.Contribution = contribution.Contribution{Components: []contribution.Component{ball.Component()}}
	return nil
}

// paramsFor returns NewParams completed with the values that depend on the mechanism.
func (c operator) paramsFor(m mechanisms.Config) Params {
	p := c.NewParams()
	p.Centres = c.centres(m)
	return p
}

// Params freezes ζ and η, and the distance of contributions' centres from zero.
func (c operator) Params(m mechanisms.Config) ([]byte, error) {
	return c.paramsFor(m).AppendBinary(nil), nil
}

func (c operator) Open(params []byte, sums *mechanisms.Stream) (operators.Machine, error) {
	p, err := ParseParams(params)
	if err != nil {
		return nil, err
	}
	return New(c.Config, p, sums)
}

// Describe returns, among other figures, the distance of actions from their centre.
func (c operator) Describe(mechanisms.Config) description.Figures {
	p := c.NewParams()
	all := p.Episodes
	last := all[len(all)-1]
	steps := fmt.Sprintf("a round of %d plays a step, %.3g from its centre, %s; η = %.3g. %s",
		c.Actions.Actions, last.Smoothing, c.Actions.Learned(), last.Rate, c.shapes(p, last)) + c.regret()
	if !c.Projected {
		steps += fmt.Sprintf(". Centres are within %.3g of exact ones", c.centreError())
	}
	if c.Doubling {
		steps += fmt.Sprintf(". That is the last of %d episodes: in earlier ones plays are farther from their centre", len(all))
	}
	return description.Figures{
		Radius: c.radius, Mechanisms: []string{"blt", "tree-gaussian", "tree-gamma", "tree-laplace"}, Steps: steps,
	}
}

// shapes describes in words where actions lie, and the baseline that losses are measured from.
func (c operator) shapes(p Params, e Episode) string {
	text := fmt.Sprintf("Directions of plays have %d dimensions", p.Dimension)
	if p.Dimension == 1 {
		text = "Directions of plays have 1 dimension"
	}
	if n := c.Set.Dimension(); p.Dimension < n {
		text += fmt.Sprintf(" of %d, because the set extends in no other", n)
	}
	if c.Shrink {
		text += fmt.Sprintf(". Plays stay in the set: it holds a ball of radius %.3g, and each centre is moved towards the middle of "+
			"that ball by %.3g of the way", c.shape.radius, 1-e.share())
	} else {
		text += fmt.Sprintf(". Plays leave the set by up to %.3g", e.Smoothing)
	}
	first := c.Losses.Low + float64(c.Baseline*(c.Losses.High-c.Losses.Low))
	return text + fmt.Sprintf(". Losses are measured from a baseline: %.3g at first, then their mean as far as releases show it", first)
}

// EmitAll returns an operator for an audit, whose actions go along each coordinate in turn. For each record of a step
// it publishes one action of every coordinate. Contributions keep their length, and a canary event can answer the
// action along the direction that it needs. If the table of all these actions would be too large, actions are open for
// fewer steps.
func (c operator) EmitAll() operators.Operator {
	c.Actions.Actions, c.axes = c.Actions.Records*c.Set.Dimension(), true
	for c.Actions.Delay > 0 && c.Actions.Validate() != nil {
		c.Actions.Delay /= 2
	}
	return c
}

func (c operator) ReferenceModel(params []byte) (operators.ReferenceModel, error) {
	p, err := ParseParams(params)
	if err != nil {
		return nil, err
	}
	return newReference(c.Config, c.members(c.terms), p)
}
