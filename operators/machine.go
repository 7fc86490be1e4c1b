package operators

import (
	"oriel/mechanisms/protection"
	"oriel/schemas"
)

// Decision is what a machine publishes. Its slices are the machine's, valid until its next call.
type Decision struct {
	Index  uint64               // identity within the stream and incarnation; public, ascending
	Step   uint64               // the step t that closed; Point is x_{t+1}
	Point  []float64            // the decision itself
	Extras []schemas.ExtraValue // of Configured.Extras, in their order; all of them or none
	Output uint8                // the topic: 0, or 1 for Configured.Output
}

// Machine is an online-learning algorithm as a state machine. Methods that take dst append to it and return it.
type Machine interface {
	// Open appends the decisions owed before the first record (a bandit's plays). Most machines owe none. It is called
	// once, and the state before it must be enough to make the same decisions: the pipeline commits that state first.
	Open(dst []Decision) []Decision

	// Add takes the next record and appends the decisions that it brings about: none while a batch is in progress.
	// It cannot fail: a record that the machine can make nothing of takes its place as a null one.
	Add(dst []Decision, r Record) []Decision

	// Steps counts the closed steps. It depends on how many records were added, not on what they say.
	Steps() uint64

	// Due tells the indices of a step's decisions: count of them from first on. Step 0 is Open. It is a function of the
	// configuration, so that whoever reads the published decisions can tell which are missing.
	Due(step uint64) (first uint64, count int)

	// AppendState appends the whole state, always StateLen bytes. It is private, also between steps.
	AppendState(dst []byte) []byte
	StateLen() int

	// Restore puts the machine where AppendState was called. A machine of the same configuration then goes on with
	// the same bytes. After an error the machine is unchanged.
	Restore(state []byte) error

	// Guarantee is what every decision of this machine states: proved, for one window. It is the stream's.
	Guarantee() protection.Guarantee
}

// Planned is a Machine whose plan decides which extras its decisions have. A plan of an earlier version lacks the ones
// that came later: its deployment must go on with the same bytes.
type Planned interface {
	Machine

	// PlannedExtras are the Configured.Extras of this plan, in their order.
	PlannedExtras() []schemas.Extra
}
