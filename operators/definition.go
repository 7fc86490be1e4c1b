package operators

import (
	"slices"

	"oriel/operators/setting"
	"oriel/schemas/event"
)

// Definition is an algorithm before it is configured: its entry in the registry of operators.
type Definition struct {
	Name     string        // the value of ORIEL_OPERATOR that selects it
	Text     string        // one line that describes it to users
	Settings []setting.Row // the operator's own settings, in the order of the settings table

	// ByClock reports that the operator takes steps by the clock, which have any number of events, also none.
	ByClock bool

	// Events returns how events are decoded. It may read only rows marked Decodes, because a program that only
	// scores loads no others.
	Events func(v *setting.Values) Events

	// Values returns m if the operator counts each user once for each of the user's first m values in a period (see
	// Distinct and protection.UserPeriod), and otherwise 0. Like New it has all settings, but v.Terms does not say m
	// yet. Nil: the operator never counts so.
	Values func(v *setting.Values) uint64

	// New checks the settings with v.Want, so that all problems are reported together. It returns the operator, or
	// v.Err if there is a problem.
	New func(v *setting.Values) (Operator, error)
}

// WithChoices returns the definition with further choices of a setting, which select constants that a paper prints, for
// comparison. Programs that protect people's data must not call it.
func (d Definition) WithChoices(name string, further ...string) Definition {
	d.Settings = slices.Clone(d.Settings)
	i := slices.IndexFunc(d.Settings, func(s setting.Row) bool { return s.Name == name })
	d.Settings[i].Choices = slices.Concat(d.Settings[i].Choices, further)
	return d
}

// Events describes how the events of an operator are decoded.
type Events struct {
	Body      event.Body
	Dimension int  // dimension of their vector; not read if the body has no vector
	Keyed     bool // the machine reads the keys of records, which are public names, for example of actions
}
