package operators

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"oriel/mechanisms/protection"
	"oriel/schemas/decision"
)

// Members declares the members that an operator adds to those of all decisions. Decisions have them in the order of
// their declarations. A declaration returns a handle, and only the handle reaches the member's value: a machine sets
// it, and a reference model or a reader of published decisions gets it. So no code depends on the place of a member.
//
// The declarations must depend only on the operator's settings. An operator makes them in one function, which serves
// Extras, its machines and its reference model.
type Members struct {
	declared []decision.Extra
	widths   []int // of lists: the number of entries
	initial  []float64
}

// These are the handles of members, by kind. A handle is valid for the values that Members.Values and Members.Read
// return after equal declarations.
type (
	NumberMember  struct{ place }
	NumbersMember struct{ place }
	TextMember    struct{ place }
	ListMember    struct{ place }

	place struct{ number int } // from 1, so that the handle of a member that was not declared panics
)

func (m *Members) declare(x decision.Extra, width int, initial float64) place {
	m.declared, m.widths = append(m.declared, x), append(m.widths, width)
	m.initial = append(m.initial, initial)
	return place{len(m.declared)}
}

// Number declares a number. The text is one sentence for readers of decisions.
func (m *Members) Number(name, text string) NumberMember { return m.Constant(name, text, 0) }

// Constant declares a number that has one value in all decisions.
func (m *Members) Constant(name, text string, value float64) NumberMember {
	return NumberMember{m.declare(decision.Extra{Name: name, Kind: decision.ExtraNumber, Text: text}, 0, value)}
}

// AnyWidth is the width of a list whose number of entries depends on the mechanism.
const AnyWidth = -1

// Numbers declares a list of numbers. Its width is the number of entries in decisions.
func (m *Members) Numbers(name, text string, width int) NumbersMember {
	return NumbersMember{m.declare(decision.Extra{Name: name, Kind: decision.ExtraNumbers, Text: text}, width, 0)}
}

// Text declares a text.
func (m *Members) Text(name, text string) TextMember {
	return TextMember{m.declare(decision.Extra{Name: name, Kind: decision.ExtraText, Text: text}, 0, 0)}
}

// List declares a list of names with their counts, of any length.
func (m *Members) List(name, text string) ListMember {
	return ListMember{m.declare(decision.Extra{Name: name, Kind: decision.ExtraList, Text: text}, 0, 0)}
}

// Lifetime declares the members by which decisions state promises over a lifetime: the memory, if sums decay, and the
// window of users. Such decisions state 0 as their window. Operators that accept terms over a lifetime must declare
// them.
func (m *Members) Lifetime(t protection.Terms) {
	for _, x := range t.Members() {
		m.Constant(x.Name, x.Text, float64(x.Steps))
	}
}

// Extras returns the declarations, in their order.
func (m *Members) Extras() []decision.Extra { return m.declared }

// Values returns the values of a decision: constants, zeros, empty texts, and empty lists with room for their width. A
// machine makes them once, so that steps do not allocate.
func (m *Members) Values() []decision.ExtraValue {
	values := make([]decision.ExtraValue, len(m.declared))
	for i, x := range m.declared {
		values[i].Number = m.initial[i]
		if x.Kind == decision.ExtraNumbers {
			values[i].Numbers = make([]float64, 0, max(0, m.widths[i]))
		}
	}
	return values
}

// Read returns the values of a published decision. It refuses a decision that lacks a declared member, or has one of
// another kind or width.
func (m *Members) Read(published []decision.ExtraMember) ([]decision.ExtraValue, error) {
	values := make([]decision.ExtraValue, len(m.declared))
	for i, x := range m.declared {
		at := slices.IndexFunc(published, func(p decision.ExtraMember) bool { return p.Name == x.Name })
		if at < 0 {
			return nil, fmt.Errorf("member %s: missing", x.Name)
		}
		to := any(&values[i].Text)
		switch x.Kind {
		case decision.ExtraNumber:
			to = &values[i].Number
		case decision.ExtraNumbers:
			to = &values[i].Numbers
		case decision.ExtraList:
			to = &values[i].List
		case decision.ExtraText:
		}
		width := m.widths[i]
		if json.Unmarshal([]byte(published[at].JSON), to) != nil || width != AnyWidth && len(values[i].Numbers) != width {
			return nil, fmt.Errorf("member %s: of another kind or width than the settings declare", x.Name)
		}
	}
	return values, nil
}

// Set sets the number in the values of a decision.
func (m NumberMember) Set(values []decision.ExtraValue, x float64) { values[m.number-1].Number = x }

// Of returns the number of a decision.
func (m NumberMember) Of(values []decision.ExtraValue) float64 { return values[m.number-1].Number }

// Set sets the list in the values of a decision, which then share it.
func (m NumbersMember) Set(values []decision.ExtraValue, list []float64) {
	values[m.number-1].Numbers = list
}

// Clear empties the list, and keeps its room.
func (m NumbersMember) Clear(values []decision.ExtraValue) { m.Set(values, m.Of(values)[:0]) }

// Append appends numbers to the list. Up to the declared width it does not allocate.
func (m NumbersMember) Append(values []decision.ExtraValue, x ...float64) {
	m.Set(values, append(m.Of(values), x...))
}

// Of returns the list of a decision.
func (m NumbersMember) Of(values []decision.ExtraValue) []float64 { return values[m.number-1].Numbers }

// Set sets the text in the values of a decision.
func (m TextMember) Set(values []decision.ExtraValue, text string) { values[m.number-1].Text = text }

// Of returns the text of a decision.
func (m TextMember) Of(values []decision.ExtraValue) string { return values[m.number-1].Text }

// Set sets the list in the values of a decision, which then share it.
func (m ListMember) Set(values []decision.ExtraValue, list []decision.Entry) {
	values[m.number-1].List = list
}

// Of returns the list of a decision.
func (m ListMember) Of(values []decision.ExtraValue) []decision.Entry { return values[m.number-1].List }

// JoinNames joins the names of a set in the form that decisions contain, with commas between them.
func JoinNames(names []string, set []int) string {
	var out strings.Builder
	for i, element := range set {
		if i > 0 {
			out.WriteByte(',')
		}
		out.WriteString(names[element])
	}
	return out.String()
}
