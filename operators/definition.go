package operators

import (
	"slices"

	"oriel/schemas/event"
)

// Definition is an algorithm before it is configured: its entry in the registry of operators.
type Definition struct {
	Name     string    // the value of ORIEL_OPERATOR that selects it
	Text     string    // one line that describes it to users
	Settings []Setting // the operator's own settings, in the order of the settings table

	// Mechanisms names further mechanisms, beside mechanisms.Names, for which the operator has constants.
	Mechanisms []string

	// Events returns how events are decoded. It may read only settings marked Decodes, because a program that only
	// scores loads no others.
	Events func(v *Values) Events

	// New checks the settings with v.Want, so that all problems are reported together. It returns the operator, or
	// v.Err if there is a problem.
	New func(v *Values) (Operator, error)
}

// WithChoices returns the definition with further choices of a setting, which select constants that a paper prints, for
// comparison. Programs that protect people's data must not call it.
func (d Definition) WithChoices(name string, further ...string) Definition {
	d.Settings = slices.Clone(d.Settings)
	i := slices.IndexFunc(d.Settings, func(s Setting) bool { return s.Name == name })
	d.Settings[i].Choices = slices.Concat(d.Settings[i].Choices, further)
	return d
}

// Events describes how the events of an operator are decoded.
type Events struct {
	Body      event.Body
	Dimension int  // dimension of their vector; not read if the body has no vector
	Keyed     bool // the machine reads the keys of records, which are public names, for example of actions
}

// MaxDimension keeps decisions within the 8 MiB that the decision topic accepts for a record. A decision has about 24
// bytes for each coordinate.
const MaxDimension = 1 << 18
