package operators

import (
	"slices"

	"oriel/schemas"
)

// Definition is an algorithm before it is configured: its row in the table of operators.
type Definition struct {
	Name     string    // its value of ORIEL_OPERATOR
	Text     string    // one line for people
	Settings []Setting // its own, in the order of the settings table

	// Mechanisms are names of mechanisms that this definition has constants for, in addition to mechanisms.Names.
	Mechanisms []string

	// Events returns how events are decoded. It may read only settings marked Decodes, because a program that only
	// scores loads no others.
	Events func(v *Values) Events

	// New checks the values with v.Want, so that all problems are reported together. It returns the operator, or v.Err.
	New func(v *Values) (Operator, error)
}

// ForPapers returns the definition in which settings also take the choices that papers print. Programs that protect
// people's data must not call it.
func (d Definition) ForPapers() Definition {
	d.Settings = slices.Clone(d.Settings)
	for i, s := range d.Settings {
		d.Settings[i].Choices, d.Settings[i].Papers = slices.Concat(s.Choices, s.Papers), nil
	}
	return d
}

// Events describes how the events of an operator are decoded.
type Events struct {
	Body      schemas.Body
	Dimension int  // of their vector; not read if the body has none
	Keyed     bool // the machine reads the keys of records: public names, for example of plays
}

// MaxDimension keeps decisions within the 8 MiB that the decision topic accepts for a record: a decision has about 24
// bytes a coordinate.
const MaxDimension = 1 << 18
