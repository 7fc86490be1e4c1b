package names

import (
	"encoding/json"
	"errors"

	"oriel/mechanisms"
	"oriel/mechanisms/contribution"
	"oriel/mechanisms/protection"
	"oriel/operators"
	"oriel/operators/description"
	"oriel/schemas/decision"
	"oriel/schemas/event"
	"oriel/schemas/text"
)

// operator implements operators.Operator.
type operator struct {
	terms     protection.Terms // who is protected, and for how long
	most      int              // largest number of names in a decision
	persons   bool             // persons count, not events
	perPerson uint64           // m, for persons
}

var (
	_ operators.Descriptive = operator{}
	_ operators.Distinct    = operator{}
	_ operators.Audited     = operator{}
)

// Require sets the contribution: one more of a name.
func (c operator) Require(m *mechanisms.Config, _ []byte) error {
	m.Contribution = contribution.OfNames(text.MaxNameBytes)
	return nil
}

func (c operator) Params(mechanisms.Config) ([]byte, error) { return nil, nil }

func (c operator) Open(params []byte, stream *mechanisms.Stream) (operators.Machine, error) {
	if len(params) > 0 {
		return nil, errors.New("names: params that this version does not write")
	}
	return newMachine(c, stream)
}

func (c operator) Extras() []decision.Extra { return declare().Extras() }

// descriptor says what decisions count.
type descriptor struct {
	Of      string `json:"of"` // events or persons
	Each    uint64 `json:"names_of_a_person,omitempty"`
	Longest int    `json:"longest_list"`
	Order   string `json:"order"`
}

// Descriptor names the contents of decisions. It must not name a name.
func (c operator) Descriptor() []byte {
	d := descriptor{Of: "events of the step", Longest: c.most, Order: "count, the largest first, then bytes of the name"}
	if c.persons {
		d.Of, d.Each = "persons of the step who are new for the name in their period", c.perPerson
	}
	b, err := json.Marshal(d)
	if err != nil {
		panic("BUG: names: descriptor: " + err.Error())
	}
	return b
}

// Value returns the name of an event. A person counts once for each of the first m different names.
func (c operator) Value(dst []byte, e event.Event) ([]byte, bool) {
	return append(dst, e.Name...), len(e.Name) > 0
}

// Describe returns the mechanisms that names can be counted with. Their figures are those of the mechanism.
func (c operator) Describe(mechanisms.Config) description.Figures {
	return description.Figures{Mechanisms: []string{"once-laplace", "once-gaussian"}}
}

// members are the members of decisions.
type members struct {
	operators.Members
	names                           operators.ListMember
	threshold, deviation, more, cut operators.NumberMember
}

func declare() *members {
	m := &members{}
	m.names = m.List("names", "The names whose counts with noise are largest, each with the interval of its true count at 95 %.")
	m.threshold = m.Number("threshold", "A name is published if its count with noise is at least this.")
	m.deviation = m.Number("deviation", "Standard deviation of the noise of a count.")
	m.more = m.Number("more", "Number of names that are at least the threshold and found no room in the list.")
	m.cut = m.Number("cut", "If more is above 0, the largest count with noise of a name that found no room.")
	return m
}
