package arms

import (
	"fmt"
	"slices"
	"strings"

	"oriel/mechanisms"
	"oriel/mechanisms/contribution"
	"oriel/operators"
	"oriel/operators/actions"
	"oriel/operators/description"
	"oriel/operators/setting"
	"oriel/schemas/decision"
	"oriel/schemas/event"
)

// Definition is the entry of arms in the registry of operators.
var Definition = operators.Definition{
	Name: "arms", Text: "bandit of finitely many arms: plays go out ahead, their losses come back as events",
	Settings: settings, Events: events, New: configure,
}

// These are the rules of ORIEL_RULE.
const (
	ucb         = "ucb"
	exp3        = "exp3"
	exp3Uniform = "exp3-uniform"
)

const maxArms = 1 << 12

var settings = slices.Insert([]setting.Row{
	{
		Name: "ARMS", Kind: setting.List, Unit: "name,…", Range: "2 to 4096 names of 1 to 64 bytes, each once",
		Required: true, Entry: setting.ShortName, Text: "actions that can be played",
	},
	{
		Name: "RULE", Kind: setting.Text, Unit: "name", Choices: []string{ucb, exp3, exp3Uniform}, Default: ucb,
		Text: "algorithm for the next arm: ucb, if the losses of each arm have a fixed law; exp3 and " +
			"exp3-uniform, for losses that change in any way",
	},
	{
		Name: "LOSS_RANGE", Kind: setting.Text, Form: setting.IsRange,
		Unit: "low:high", Range: "ends up to 1e12 in size", Default: "0:1",
		Text: "public range of losses: those outside are clamped to it. A reward is a loss below 0",
	},
	{
		Name: "WIDTH", Kind: setting.Number, Unit: "factor",
		Bounds: setting.Above(0, 100), Range: "above 0, at most 100; with ORIEL_RULE=ucb", Default: "1",
		Text: "width² of the intervals of ucb, in units of ln t: with a larger value ucb leaves an arm later. The regret bound is proved from 3 on",
	},
}, 2, actions.Settings("all of one arm")...)

var body = event.Body{
	Name: "arms", Text: "The loss of a play; the record key is the play's index.",
	Members: []event.Member{{Name: "loss", Kind: event.KindNumber, Text: "The cost of the play."}},
}

func events(*setting.Values) operators.Events { return operators.Events{Body: body, Keyed: true} }

func configure(v *setting.Values) (operators.Operator, error) {
	names, table, losses := v.Entries("ARMS"), actions.Read(v), v.Range("LOSS_RANGE")
	v.Want("ARMS", len(names) >= 2 && len(names) <= maxArms, "%d arms: not 2 to %d", len(names), maxArms)
	v.Distinct("ARMS", names)
	width := v.Number("WIDTH")
	facts, known := mechanisms.FactsOf(v.Mechanism)
	v.Want("MECHANISM", !known || facts.EachStep() && !facts.Discrete(), "%s: each round is released once; set ORIEL_MECHANISM=once-gamma, of pure ε, or once-gaussian",
		v.Mechanism)
	if err := v.Err(); err != nil {
		return nil, err
	}
	c := Config{Arms: names, Rule: v.Text("RULE"), Losses: losses, Width: width, Actions: table}
	return operator{Config: c}, c.Actions.Validate()
}

// Config holds the public settings, which are constant during the life of a deployment.
type Config struct {
	Arms    []string // 2 to 4096 names
	Rule    string   // ucb, exp3 or exp3-uniform
	Losses  setting.Range
	Width   float64 // the width factor α of ucb's intervals
	Actions actions.Config
}

// operator implements operators.Operator.
type operator struct{ Config }

var _ operators.Audited = operator{}

// members declares the one further member of decisions, the name of the arm.
func members() (m operators.Members, arm operators.TextMember) {
	arm = m.Text("arm", "The arm to play; the decision is its place in ORIEL_ARMS, from 0.")
	return m, arm
}

func (c operator) Extras() []decision.Extra {
	m, _ := members()
	return m.Extras()
}

// Require sets the contribution: one number of absolute value at most ½, so that exchanging an answer moves a release
// by at most 1.
func (c operator) Require(m *mechanisms.Config, _ []byte) error {
	m.Contribution = contribution.OneComponent(1, largest)
	if facts, _ := mechanisms.FactsOf(m.Name); c.Rule == exp3Uniform && facts.EachStep() {
		if !facts.Radial() {
			return fmt.Errorf("arms: ORIEL_RULE=%s: takes once-gamma, not %s", exp3Uniform, m.Name)
		}
		_, err := newExp3Uniform(len(c.Arms), c.Actions.Records, laplace(m.Unit, m.Budget.Epsilon))
		return err
	}
	return nil
}

// largest is the greatest absolute value of a mapped loss.
const largest = 0.5

// paramsVersion is the first line of the params that Params stores.
const paramsVersion = "1"

// Params returns the version and the list of arms, each on a line. A deployment freezes them.
func (c operator) Params(mechanisms.Config) ([]byte, error) {
	return []byte(paramsVersion + "\n" + strings.Join(c.Arms, "\n")), nil
}

func (c operator) Open(params []byte, stream *mechanisms.Stream) (operators.Machine, error) {
	lines := strings.Split(string(params), "\n")
	if lines[0] != paramsVersion || len(lines) < 3 || len(lines) > 1+maxArms {
		return nil, fmt.Errorf("arms: params: not one of version %s", paramsVersion)
	}
	c.Arms = lines[1:]
	return New(c.Config, stream)
}

// Describe returns the bound on the contribution, the regret bound, and whether arms are drawn.
func (c operator) Describe(m mechanisms.Config) description.Figures {
	return description.Figures{
		Draws: c.Rule != ucb, Mechanisms: []string{"once-gamma", "once-gaussian"}, Steps: c.regret(m),
	}
}

func (c operator) ReferenceModel([]byte) (operators.ReferenceModel, error) {
	return &reference{Config: c.Config}, nil
}
