// Package members has what CheckMembers must find, and what it must leave alone.
package members

import (
	"oriel/operators"
	"oriel/schemas/decision"
)

func members() (n float64) {
	var declared operators.Members
	sum := declared.Number("sum", "A number.")
	values := declared.Values()
	values[0].Number = 1                                // want
	n += values[len(values)-1].Number                   // want
	extras := []decision.Extra{{Name: "sum"}}           // want
	values = append(values, []decision.ExtraValue{}...) // want
	sum.Set(values, 2)
	n += sum.Of(values[:1])
	return n + float64(len(extras)) + []float64{1}[0]
}

var _ = members
