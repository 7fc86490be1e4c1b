package sets

import (
	"errors"
	"fmt"
	"strings"

	"oriel/mechanisms"
	"oriel/mechanisms/contribution"
	"oriel/mechanisms/protection"
	"oriel/operators"
	"oriel/operators/actions"
	"oriel/operators/description"
	"oriel/operators/setting"
	"oriel/schemas/decision"
)

// Config holds the public settings, which are constant during the life of a deployment.
type Config struct {
	Elements []string // N names, 2 to 4096
	Pick     int      // k, below N
	Value    setting.Range
	Actions  actions.Config

	Tries uint64 // for halving: number of rounds in which an element is first tried
	Epoch uint64 // for halving: number of steps after which the search starts anew; 0: never

	Draws   bool // the rule is draws; otherwise it is halving
	Horizon uint64
	Share   float64 // share of rounds that explore; 0: the share that the proof allows
	Capped  bool    // explorations stop at a cap, as ORIEL_COINS=capped sets
	early   bool    // the first rounds explore, without coins, for an audit
}

// cells returns k·N, the number of pairs of an expert and an element, ordered by expert.
func (c Config) cells() int { return c.Pick * len(c.Elements) }

// operator implements operators.Operator.
type operator struct {
	Config
}

var (
	_ operators.Thinning = operator{}
	_ operators.Audited  = operator{}
)

// members declares the names of the elements in the set, and whether the round explores.
func members() (m operators.Members, set operators.TextMember, explores operators.NumberMember) {
	set = m.Text("set", "The names of the elements to play, with commas between them. The decision has their places in ORIEL_ELEMENTS, "+
		"from 0, and −1 where the set has fewer than ORIEL_PICK.")
	explores = m.Number("explores", "1: the set is played to find out; 0: it is the best that is known.")
	return m, set, explores
}

func (c operator) Extras() []decision.Extra {
	m, _, _ := members()
	return m.Extras()
}

// half is the largest absolute value of a mapped reward.
const half = 0.5

// Require sets the contribution, one number of absolute value at most ½: the reward of the round for halving, or of the
// cell for draws.
func (c operator) Require(m *mechanisms.Config, params []byte) error {
	if !c.Draws {
		m.Contribution = contribution.OneComponent(1, half)
		return nil
	}
	if m.Name != mechanisms.ExponentialMechanism {
		return fmt.Errorf("sets: ORIEL_RULE=%s takes %s, not %s", draws, mechanisms.ExponentialMechanism, m.Name)
	}
	if m.Scope.End() == protection.Endless {
		return nil // no error here, because the mechanism itself refuses a stream without an end
	}
	m.Contribution = contribution.Contribution{
		Components: []contribution.Component{cellQuantiser{Cells: c.cells()}.Component()}, Nonzero: 1,
	}
	r, err := c.rates(*m)
	if params != nil {
		_, r, err = c.read(params)
	}
	if err != nil {
		return err
	}
	m.Draws = mechanisms.Draws{K: uint64(c.Pick), MaxDraws: r.explorations, Disjoint: true, MaxEpsilon: r.maxEpsilon}
	return nil
}

// paramsVersion is the first line of the params that Params stores.
const paramsVersion = "1"

// Params freezes the version, the rates of the rule draws, and the list of elements, each on a line.
func (c operator) Params(m mechanisms.Config) ([]byte, error) {
	var r rates
	if c.Draws {
		var err error
		if r, err = c.rates(m); err != nil {
			return nil, err
		}
	}
	return []byte(paramsVersion + "\n" + r.line() + "\n" + strings.Join(c.Elements, "\n")), nil
}

// read reads params.
func (c operator) read(params []byte) (elements []string, r rates, err error) {
	lines := strings.Split(string(params), "\n")
	if lines[0] != paramsVersion || len(lines) != 2+len(c.Elements) {
		return nil, rates{}, errors.New("sets: params: not of version " + paramsVersion + ", or not of these elements")
	}
	r, ok := parseRates(lines[1])
	if c.Draws && (!ok || r.explorations > c.Horizon) || !c.Draws && lines[1] != r.line() {
		return nil, rates{}, errors.New("sets: params: not one of these rates")
	}
	return lines[2:], r, nil
}

func (c operator) Open(params []byte, stream *mechanisms.Stream) (operators.Machine, error) {
	elements, r, err := c.read(params)
	if err != nil {
		return nil, err
	}
	c.Elements = elements
	return newMachine(c.Config, r, stream)
}

// Describe returns, among other figures, which share of rounds explores.
func (c operator) Describe(m mechanisms.Config) description.Figures {
	d := description.Figures{
		Mechanisms: []string{"once-gamma", "once-gaussian"},
		Steps: fmt.Sprintf("%d of %d elements; a round of %d plays of one set a step, %s; the set "+
			"stands after %d steps that explore, %d of them a position", c.Pick, len(c.Elements), c.Actions.Actions,
			c.Actions.Learned(), c.explores(), c.explores()/uint64(c.Pick)),
	}
	if c.Draws {
		d = c.describeDraws(m)
	}
	return d
}

// EmitAll returns the operator for an audit, whose first rounds explore, because an answer to a round that does not
// explore contributes nothing.
func (c operator) EmitAll() operators.Operator {
	c.early = true
	return c
}

func (c operator) ReferenceModel([]byte) (operators.ReferenceModel, error) {
	return &reference{Config: c.Config}, nil
}
