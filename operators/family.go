package operators

import (
	"oriel/mechanisms"
	"oriel/schemas"
)

// Family is an algorithm before it is configured: its row in the table of operators.
type Family struct {
	Name     string    // what ORIEL_OPERATOR says
	Text     string    // one line for people
	Settings []Setting // its own, in the order of the settings table

	// Events says how events are decoded. It reads settings that have Decodes alone, since a program that scores has no
	// others.
	Events func(v *Values) Events

	// New checks the values by v.Want, so that all problems are reported together, and returns v.Err, or the operator.
	New func(v *Values) (Configured, error)
}

// Events says how the events of an operator are decoded.
type Events struct {
	Loss      string // names their body
	Dimension int    // of their vector
}

// MaxDimension keeps a decision of 24 bytes a coordinate within the 8 MiB that the decision topic takes a record.
const MaxDimension = 1 << 18

// Configured is an operator with its settings: everything that the service and the tools know of an algorithm.
type Configured interface {
	// Extras are the members that decisions have behind those of all operators, in their order.
	Extras() []schemas.Extra

	// Output is the operator's second topic; nil: it has none.
	Output() *Output

	// Descriptor is a JSON object of what a consumer needs beside decisions, such as the names of their coordinates; nil:
	// nothing. It is published.
	Descriptor() []byte

	// Mechanism adds what the operator asks of a mechanism by its name: a bound on its error, a printed sensitivity.
	Mechanism(c *mechanisms.Config)

	// Plan freezes what a machine needs beside its configuration: what only a platform's math library can compute, and
	// what lists and files say. It is made once, when an incarnation is opened, and read back ever after.
	Plan(c mechanisms.Config) ([]byte, error)

	// Open returns the machine at step 0 over a stream of the mechanism. It takes the stream over.
	Open(plan []byte, sums *mechanisms.Stream) (Machine, error)

	// Describe says, for a mechanism, what people want to know before any event is read.
	Describe(c mechanisms.Config) Description

	// Every is the same operator without settings that thin decisions out: each one that it computes is published. An
	// audit plays this one, since it wants to see them.
	Every() Configured

	// Twin returns what an audit compares the machine of Every with.
	Twin() Twin
}

// Output is a second topic, for decisions that are not for all who read the first: those whose Output is 1.
type Output struct {
	Suffix string // of its name: <deployment>.<suffix>
	Text   string // what is in it, and who may read it
}

// Plain is embedded by operators whose decisions have one topic and no descriptor and which ask nothing of the
// mechanism.
type Plain struct{}

// Extras returns none.
func (Plain) Extras() []schemas.Extra { return nil }

// Output returns nil.
func (Plain) Output() *Output { return nil }

// Descriptor returns nil.
func (Plain) Descriptor() []byte { return nil }

// Mechanism adds nothing.
func (Plain) Mechanism(*mechanisms.Config) {}

// Description is what `oriel plan` tells of an operator.
type Description struct {
	Radius  float64  // of the set that decisions are in, length; 0: there is none
	Damping *Damping // nil: unknown, or different from release to release
}

// Damping says how much of a release's noise stands in a decision, before it is projected: after t steps, the noise
// divided by Start + Step·t.
type Damping struct {
	Start, Step float64
}
