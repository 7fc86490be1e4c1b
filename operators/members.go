package operators

import (
	"strings"

	"oriel/mechanisms/protection"
	"oriel/schemas"
)

// LifetimeMembers returns the members by which decisions state promises over a lifetime: the memory, if sums decay, and
// the window of users. Such decisions state 0 as their window. Operators that accept terms over a lifetime include
// these members in their Extras, and put the values of AppendLifetimeMembers in the same place.
func LifetimeMembers(t protection.Terms) []schemas.Extra {
	var all []schemas.Extra
	for _, m := range t.Members() {
		all = append(all, schemas.Extra{Name: m.Name, Kind: schemas.ExtraNumber, Text: m.Text})
	}
	return all
}

// AppendLifetimeMembers appends the values of the members that LifetimeMembers names.
func AppendLifetimeMembers(dst []schemas.ExtraValue, t protection.Terms) []schemas.ExtraValue {
	for _, m := range t.Members() {
		dst = append(dst, schemas.ExtraValue{Number: float64(m.Steps)})
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
