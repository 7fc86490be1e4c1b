package linucb

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"

	"oriel/mechanisms"
	"oriel/mechanisms/contribution"
	"oriel/mechanisms/lattice"
	"oriel/mechanisms/protection"
	"oriel/operators"
	"oriel/operators/description"
	"oriel/operators/loss"
	"oriel/operators/moments"
	"oriel/operators/pending"
	"oriel/schemas/decision"
	"oriel/schemas/event"
)

// operator implements operators.Operator.
type operator struct {
	arms         []string // names of the arms; empty with candidates
	lines        []string // lines of the file of arms with features, as params store them
	products     products // products with arms' features, if arms have features
	candidates   int      // number of candidates of an event; 0: the choices are arms
	served       bool
	rows         moments.Rows
	features     float64 // X, the norm by which features are divided
	middle, half float64 // middle of the reward's range, and half its width
	start        float64 // λ, the public regulariser
	shift        float64 // f, the shift in units of Edge, the edge of the noise's spectrum
	width        float64 // β, if ORIEL_WIDTH sets it
	confidence   float64 // probability with which β is proved to hold; 0: no proof
	maxWeights   float64 // S, the largest norm of weights
	every        uint64
	doubling     bool // the model is solved only when an arm's determinant has doubled
	batch        uint64
	terms        protection.Terms // who is protected, and for how long
	waiting      pending.Config
}

var (
	_ operators.Writer      = operator{}
	_ operators.Descriptive = operator{}
	_ operators.Thinning    = operator{}
	_ operators.Audited     = operator{}
)

// blocks returns the number of weight vectors: one for each arm, or one for all choices.
func (c operator) blocks() int { return max(1, c.rows.Blocks) }

// choices returns the number of arms or candidates to choose from.
func (c operator) choices() int { return max(c.candidates, len(c.arms)) }

// members describe how to read the weights and how they were solved. If actions are served, they also give the choice
// and the key that it answers.
type members struct {
	operators.Members
	width, shift, doublings operators.NumberMember

	arm, key, space, answers operators.TextMember
	filler                   operators.NumberMember
}

func (c operator) members() *members {
	m := &members{}
	m.Constant("offset", "A reward is predicted as this and the inner product of features and an arm's weights.", c.middle)
	m.width = m.Number("width", "The largest β of an arm, in units of half the range of rewards.")
	m.shift = m.Number("shift", "The most that was added to the diagonal of an arm's released second moments of features of norm 1.")
	m.doublings = m.Number("doublings", "How often a shift has had to be doubled, of all arms and models so far: 0 when it is large enough.")
	if c.served {
		m.arm = m.Text("arm", "The name of the action to play; empty in a model, and where there is nothing to play.")
		m.key = m.Text(keyMember, "The record key of the context that an action is for; empty in a model.")
		m.space = m.Text("space", "Spaces, so that the texts of all actions for a key have equally many bytes.")
		m.filler = m.Number("filler", "A power of ten, so that the decision and this number together have equally many characters in all "+
			"actions; 0 in a model.")
		m.answers = m.Text("answers", "The kind of record that an action answers, by the record's key alone: context, which waits for its reward from then on; "+
			"reward, under a key that waited, and there is nothing to play; nothing, a record that is neither. Empty in a model.")
	}
	m.Lifetime(c.terms)
	return m
}

const keyMember = "key"

func (c operator) Extras() []decision.Extra { return c.members().Extras() }

// SecondTopic describes the topic of actions.
func (c operator) SecondTopic() *operators.Output {
	if !c.served {
		return nil
	}
	return &operators.Output{
		Suffix: "actions", Key: keyMember, Own: true,
		Text: "the action to play for each context. An action follows from the context that it is for: let those alone read it whom the context is of, " +
			"or who carry it out for them",
	}
}

// Descriptor names the arms, whose weights are concatenated in a model. It is nil for candidates and for arms with
// features, because all choices then share their weights.
func (c operator) Descriptor() []byte {
	if len(c.arms) == 0 || len(c.lines) > 0 || c.candidates > 0 {
		return nil
	}
	text, err := json.Marshal(struct {
		Arms []string `json:"arms"`
	}{c.arms})
	if err != nil {
		panic("BUG: linucb: descriptor: " + err.Error())
	}
	return text
}

// Require sets the contribution of a row.
func (c operator) Require(m *mechanisms.Config, params []byte) error {
	part := c.rows.Component()
	part.Name = "moments"
	m.Contribution = contribution.Contribution{Components: []contribution.Component{part}}
	if c.confidence > 0 && m.Scope.End() == protection.Endless {
		return errors.New("ORIEL_CONFIDENCE: the width is proved for the steps of a stream that ends: it needs ORIEL_WINDOW=horizon and ORIEL_HORIZON")
	}
	if _, several := m.Unit.EventSeparation(); c.served && several {
		return errors.New("linucb: ORIEL_PLAYED=served has no user level: a user's rows may be added closer together than events")
	}
	if params == nil {
		return nil
	}
	_, err := c.read(params)
	return err
}

func (c operator) Open(params []byte, sums *mechanisms.Stream) (operators.Machine, error) {
	c, err := c.read(params)
	if err != nil {
		return nil, err
	}
	return newMachine(c, sums)
}

// Describe describes the contribution of a row, and the regret bound.
func (c operator) Describe(m mechanisms.Config) description.Figures {
	s := float64(c.rows.Label) / moments.MaxLabel
	where := fmt.Sprintf("in the block of one of %d arms", c.blocks())
	if c.products.length > 0 {
		where = fmt.Sprintf("of all products of %d features of a context and %d of an arm, in one block", c.dimension(),
			c.products.length)
	}
	return description.Figures{
		Radius: float64(float64(c.maxWeights*c.half) / c.unit()),
		Distance: fmt.Sprintf(
			"second moments of rows (z; s·y), s = %.4g, %s: an exchange moves them by 1 + s² = %.4g, however many arms",
			s, where, 1+float64(s*s)),
		Steps:      c.regret(m),
		Mechanisms: []string{"blt", "tree-gaussian"},
	}
}

func (c operator) EmitAll() operators.Operator {
	c.every = 1
	return c
}

func (c operator) ReferenceModel(params []byte) (operators.ReferenceModel, error) {
	c, err := c.read(params)
	if c.served {
		return &servedReference{reference: reference{operator: c}, key: c.members().key}, err
	}
	return reference{operator: c}, err
}

// usable reports whether a decoder can have made the event: its vector is of the configured dimension or noReward, and
// its values are numbers.
func (c operator) usable(e event.Event) bool {
	if len(e.Numbers) != 2 || !finite(e.Numbers) || !finite(e.Vector.Values) {
		return false
	}
	size := c.dimension() * max(1, c.candidates)
	if e.Vector.Indices == nil {
		return len(e.Vector.Values) == 0 || len(e.Vector.Values) == size
	}
	outside := slices.ContainsFunc(e.Vector.Indices, func(at int32) bool { return at < 0 || int(at) >= size })
	return !outside && len(e.Vector.Values) == len(e.Vector.Indices)
}

func finite(values []float64) bool {
	return !slices.ContainsFunc(values, func(x float64) bool { return !(math.Abs(x) <= math.MaxFloat64) })
}

// context writes the features of one choice of a usable event, divided by X and shortened to norm 1 if they are longer,
// to dst of length d. It returns false if the event does not have this choice.
func (c operator) context(dst []float64, v event.Vector, choice int) bool {
	if c.candidates == 0 {
		if len(v.Values) == 0 || choice < 0 || choice >= len(c.arms) {
			return false
		}
		if c.products.length > 0 {
			return c.product(dst, v, choice)
		}
		return loss.Normalised(dst, v, c.features)
	}
	return choice >= 0 && choice < c.candidates && c.candidate(dst, v, choice) && lattice.Norm(dst) > 0
}

// candidate writes the features of a candidate, which are its range of coordinates in the event's vector.
func (c operator) candidate(dst []float64, v event.Vector, choice int) bool {
	d := len(dst)
	if v.Indices == nil {
		return len(v.Values) > 0 && loss.Normalised(dst, event.Vector{Values: v.Values[choice*d:][:d]}, c.features)
	}
	clear(dst)
	for k, at := range v.Indices {
		if int(at)/d == choice {
			dst[int(at)%d] = v.Values[k]
		}
	}
	return loss.Normalised(dst, event.Vector{Values: dst}, c.features)
}

// block returns the block of sums to which the row of a choice is added.
func (c operator) block(choice int) int {
	if c.blocks() == 1 {
		return 0
	}
	return choice
}

// reward maps an event's reward to [−1, 1]. some is false if the event has no reward.
func (c operator) reward(e event.Event) (y float64, some bool) {
	if e.Numbers[1] == noReward {
		return 0, false
	}
	return max(-1, min(1, (e.Numbers[1]-c.middle)/c.half)), true
}
