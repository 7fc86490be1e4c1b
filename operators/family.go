package operators

import (
	"oriel/mechanisms"
	"oriel/mechanisms/forget"
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
	Body      schemas.Body
	Dimension int  // of their vector; not read when the body has none
	Keyed     bool // the machine reads the keys of records: public names, such as that of a play
}

// MaxDimension keeps a decision of 24 bytes a coordinate within the 8 MiB that the decision topic takes a record.
const MaxDimension = 1 << 18

// Configured is an operator with its settings: everything that the service and the tools know of an algorithm.
type Configured interface {
	// Form is how decisions print their point.
	Form() schemas.Form

	// Extras are the members that decisions have behind those of all operators, in their order.
	Extras() []schemas.Extra

	// Output is the operator's second topic; nil: it has none.
	Output() *Output

	// Descriptor is a JSON object of what a consumer needs beside decisions, such as the names of their coordinates;
	// nil: nothing. It is published.
	Descriptor() []byte

	// Mechanism adds what the operator asks of a mechanism by its name: a leaf, a bound on its error, a printed
	// sensitivity. plan is the one that Plan has made when the incarnation was opened, or nil before: what a later
	// version would choose otherwise stays as it was.
	Mechanism(c *mechanisms.Config, plan []byte) error

	// Plan freezes what a machine needs beside its configuration: what only a platform's math library can compute, and
	// what lists and files say. It is made once, when an incarnation is opened, and read back ever after.
	Plan(c mechanisms.Config) ([]byte, error)

	// Open returns the machine at step 0 over a stream of the mechanism. It takes the stream over.
	Open(plan []byte, sums *mechanisms.Stream) (Machine, error)

	// Describe says, for a mechanism, what people want to know before any event is read.
	Describe(c mechanisms.Config) Description

	// Score says how decisions are scored on the events that follow them; nil: events alone do not tell.
	Score() *Score

	// Numbers says what the numbers of decisions are; nil: no statistics of the events.
	Numbers() *Numbers

	// Every is the same operator without settings that thin decisions out: each one that it computes is published. An
	// audit plays this one, since it wants to see them.
	Every() Configured

	// Twin returns what an audit compares the machine of Every with that has the plan.
	Twin(plan []byte) (Twin, error)
}

// Cautious is a Configured that knows which of its settings are valid, seldom meant, and silent otherwise.
type Cautious interface {
	Configured

	// Cautions are warnings for people, one sentence or two each, which name the setting and say what to do. They follow
	// from settings alone.
	Cautions() []string
}

// Following is a Configured whose streams can go on where an earlier life of theirs has ended, one with another secret
// whose state is gone: from the last decision that it published. All releases of both lives together then protect an
// event that one of them has released as that one does alone (mechanisms/forget/PROOF.md, Theorem 3).
type Following interface {
	Configured

	// PlanAfter is Plan for such a stream, of a mechanism with a memory. It refuses a decision that no stream of this
	// operator can have published.
	PlanAfter(c mechanisms.Config, last Decision) ([]byte, error)
}

// Output is a second topic, for decisions that are not for all who read the first: those whose Output is 1.
type Output struct {
	Suffix string // of its name: <deployment>.<suffix>
	Text   string // what is in it, and who may read it

	// Key names the ExtraText that its decisions have as their record key, where it is not empty; else that is the
	// stream's name, as in the first topic.
	Key string
}

// Plain is embedded by operators whose decisions are dense and have one topic, no descriptor, no score and no names,
// and which ask nothing of the mechanism.
type Plain struct{}

// Form returns Dense.
func (Plain) Form() schemas.Form { return schemas.Dense }

// Extras returns none.
func (Plain) Extras() []schemas.Extra { return nil }

// Output returns nil.
func (Plain) Output() *Output { return nil }

// Descriptor returns nil.
func (Plain) Descriptor() []byte { return nil }

// Score returns nil.
func (Plain) Score() *Score { return nil }

// Numbers returns nil.
func (Plain) Numbers() *Numbers { return nil }

// Mechanism adds nothing.
func (Plain) Mechanism(*mechanisms.Config, []byte) error { return nil }

// Description is what `oriel plan` tells of an operator.
type Description struct {
	Radius  float64  // of the set that decisions are in, length; 0: there is none
	Across  float64  // diameter of that set; 0: unknown
	Clip    float64  // that is configured, if the leaf has another; 0: the leaf's
	Leaves  string   // what bounds how far an exchange moves a leaf, in words; empty: nothing more than the leaf says
	Steps   string   // what bounds how far a decision moves in a step, in words; empty: nothing that is worth saying
	Damping *Damping // nil: unknown, or different from release to release

	Precision *Precision // nil: decisions are no numbers whose noise is known

	// Mechanisms are the names of those that the operator takes; nil: all.
	Mechanisms []string

	// Draws says that decisions hold draws of the stream's own (mechanisms.Stream.Choose): other events over the same
	// releases then make other decisions.
	Draws bool
}

// Damping says how much of a release's noise stands in a decision, before it is projected: after t steps, the noise
// divided by Start + Step·t, or with a Memory by Start + Step·N_t, N_t = Σ_{s≤t} γ^{t−s}.
type Damping struct {
	Start, Step float64
	Memory      uint64
}

// After returns what noise is divided by after so many steps.
func (d Damping) After(steps uint64) float64 {
	if d.Memory > 0 {
		return d.Start + float64(d.Step*forget.Weight(d.Memory, steps))
	}
	return d.Start + float64(d.Step*float64(steps))
}
