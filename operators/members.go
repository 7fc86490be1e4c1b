package operators

import (
	"strings"

	"oriel/mechanisms/protection"
	"oriel/schemas/decision"
)

// LifetimeMembers returns the members by which decisions state promises over a lifetime: the memory, if sums decay, and
// the window of users. Such decisions state 0 as their window. Operators that accept terms over a lifetime include
// these members in their Extras, and put the values of AppendLifetimeMembers in the same place.
func LifetimeMembers(t protection.Terms) []decision.Extra {
	var all []decision.Extra
	for _, m := range t.Members() {
		all = append(all, decision.Extra{Name: m.Name, Kind: decision.ExtraNumber, Text: m.Text})
	}
	return all
}

// AppendLifetimeMembers appends the values of the members that LifetimeMembers names.
func AppendLifetimeMembers(dst []decision.ExtraValue, t protection.Terms) []decision.ExtraValue {
	for _, m := range t.Members() {
		dst = append(dst, decision.ExtraValue{Number: float64(m.Steps)})
	}
	return dst
}

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
