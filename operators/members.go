package operators

import (
	"oriel/mechanisms/protection"
	"oriel/schemas"
)

// LifetimeMembers are the numbers by which decisions say what holds for ever: the memory, where sums decay, and the
// window of users. The window that such decisions state is 0. Operators that take such terms give them with their
// Extras, and the values of AppendLifetimeMembers in the same place.
func LifetimeMembers(t protection.Terms) []schemas.Extra {
	var all []schemas.Extra
	for _, m := range t.Members() {
		all = append(all, schemas.Extra{Name: m.Name, Kind: schemas.ExtraNumber, Text: m.Text})
	}
	return all
}

// AppendLifetimeMembers appends the values of LifetimeMembers.
func AppendLifetimeMembers(dst []schemas.ExtraValue, t protection.Terms) []schemas.ExtraValue {
	for _, m := range t.Members() {
		dst = append(dst, schemas.ExtraValue{Number: float64(m.Steps)})
	}
	return dst
}
