package submodular

import (
	"fmt"
	"math"

	"oriel/mechanisms"
	"oriel/mechanisms/contribution"
	"oriel/mechanisms/protection"
	"oriel/operators"
	"oriel/operators/description"
	"oriel/schemas/decision"
)

// operator implements operators.Operator.
type operator struct {
	rule      string  // one of the constants byHistogram, byArgmax, …
	copies    int     // K, the number of copies of shares; 0: computed from the number of events
	published bool    // decisions contain the points of all copies, for an audit
	norm      float64 // value of ORIEL_VALUES_NORM
	length    float64 // M, the length bound of a position's gains; 0: gains are centred on ½
	printed   bool    // rates and numbers of copies as the source paper prints them
	bounded   bool    // the rate is limited to one with a proved regret bound
	function  function
	types     []place // public types or places; empty if events contain the values of elements
	elements  int     // N, the number of elements
	pick      int     // k, the size of sets
	catchment float64 // distance in km from which a place has no value
	every     uint64
	batch     uint64
	terms     protection.Terms // who is protected, and for how long
}

var (
	_ operators.Scorer   = operator{}
	_ operators.Thinning = operator{}
	_ operators.Audited  = operator{}
)

// members are the members of decisions. Only the rules that have a member declare it.
type members struct {
	operators.Members
	places operators.TextMember
	value  operators.NumberMember
	points operators.NumbersMember
}

func (c operator) members() *members {
	m := &members{}
	if c.named() {
		m.places = m.Text("places", "The names of the set, in its order, with commas between them.")
	}
	if c.rule == byHistogram {
		m.value = m.Number("value", "The mean value of the set to an event, in [0, 1], by the released counts.")
	}
	if c.published {
		m.points = m.Numbers("points", "Of all copies.", c.copies*c.elements)
	}
	m.Lifetime(c.terms)
	return m
}

func (c operator) Extras() []decision.Extra { return c.members().Extras() }

// named reports whether elements have names. Places have names; with types, only the number of elements is known.
func (c operator) named() bool {
	return c.rule != byShares && len(c.types) > 0 && c.types[0].values == nil
}

// repeats reports whether a set can contain an element twice: sets of the rule draws can, and sets of leaders with the
// printed rate.
func (c operator) repeats() bool { return c.rule == byDraws || c.rule == byLeaders && c.printed }

func (c operator) Require(m *mechanisms.Config, params []byte) error {
	if params != nil {
		p, err := c.read(params)
		if err != nil {
			return err
		}
		c = c.withParams(p)
	} else {
		c.length = c.lengthOf(*m)
	}
	m.Contribution = contribution.Contribution{Components: []contribution.Component{c.component(*m)}}
	if c.rule == byDraws {
		return c.schedule(m)
	}
	return nil
}

// Params freezes the names of places, and the value of each place to events at each other place, because sines differ
// between platforms. It also freezes the numbers that depend on the noise.
func (c operator) Params(m mechanisms.Config) ([]byte, error) {
	p := params{length: c.lengthOf(m)}
	if c.tuned() {
		var err error
		if p.regulariser, err = c.regulariserOf(m); err != nil {
			return nil, err
		}
		p.copies = c.copiesOf(m)
	}
	return c.encode(p), nil
}

// tuned reports whether params have copies and a regulariser.
func (c operator) tuned() bool { return c.rule == byLeaders || c.rule == byShares }

// withParams returns the configuration with the values of params.
func (c operator) withParams(p params) operator {
	c.copies, c.length = p.copies, p.length
	return c
}

func (c operator) Open(params []byte, sums *mechanisms.Stream) (operators.Machine, error) {
	p, err := c.read(params)
	if err != nil {
		return nil, err
	}
	return newMachine(c, p, sums)
}

// Describe returns the bound on a contribution, and a bound on the difference in value between a decision and the best
// set or point.
func (c operator) Describe(m mechanisms.Config) description.Figures {
	d := description.Figures{
		Distance: fmt.Sprintf("an event sets one of %d counts to 1 and the others to 0: an exchange moves the counts by √2 = 1.414", c.elements),
		Steps: fmt.Sprintf("%d of %d elements, at least %.3g of the best set's value as the released counts say", c.pick, c.elements,
			c.factor()),
	}
	if c.rule == byDraws {
		return c.describeDraws(m)
	}
	if c.rule != byHistogram {
		c.length = c.lengthOf(m)
		size := c.component(m).Size
		d.Distance = fmt.Sprintf("%d gains in [0, 1]: an exchange moves each by 1 at most, all by √%[1]d = %.4g", size,
			math.Sqrt(float64(size)))
		if positions := float64(size / c.elements); c.length > 0 {
			d.Distance = fmt.Sprintf("%d gains in [0, 1], of a length of %.4g at most at each of %g positions: an exchange moves them by √%g·%.4[2]g = %.4[5]g",
				size, c.length, positions, 2*positions, math.Sqrt(2*positions)*c.length)
		}
		d.Steps = fmt.Sprintf("%d of %d elements", c.pick, c.elements)
		if c.rule == byArgmax {
			d.Steps += c.describeNoise(m)
		}
		if c.rule == byShares {
			d.Steps = fmt.Sprintf("of each of %d elements a chance, %d together, by %d copies", c.elements, c.pick,
				c.copiesOf(m))
		}
		if c.rule == byLeaders {
			d.Draws = true
			d.Steps += ", each drawn from a point of the simplex that follows from released sums"
			if c.printed {
				d.Steps += ", and perhaps twice"
			}
		}
		if c.tuned() {
			d.Steps += c.describeExperts(m)
		}
	}
	return d
}

// factor returns 1 − (1 − 1/k)^k, the guaranteed share of the best set's value.
func (c operator) factor() float64 { return 1 - math.Pow(1-1/float64(c.pick), float64(c.pick)) }

// EmitAll returns the operator that publishes the decision of each step. With the rule draws every decision is
// published already.
func (c operator) EmitAll() operators.Operator {
	if c.rule != byDraws {
		c.every, c.published = 1, c.rule == byShares
	}
	return c
}

func (c operator) ReferenceModel(params []byte) (operators.ReferenceModel, error) {
	p, err := c.read(params)
	c = c.withParams(p)
	t := &reference{operator: c, params: p}
	if err == nil {
		t.Begin()
	}
	return t, err
}
