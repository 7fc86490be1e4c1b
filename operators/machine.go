package operators

import (
	"slices"

	"oriel/mechanisms/protection"
	"oriel/schemas"
)

// Decision is one publication of a machine. Its slices are the machine's, valid until its next call.
type Decision struct {
	Index  uint64               // identity within the stream and incarnation; public, ascending
	Step   uint64               // the step t that closed; Point is x_{t+1}
	Point  []float64            // the decision itself
	Extras []schemas.ExtraValue // of Operator.Extras, in their order; all of them or none
	Output uint8                // the topic: 0, or 1 for the Output of a Writer
}

// AppendCopies appends copies of decisions, which stay as they are when the machine goes on.
func AppendCopies(dst, decisions []Decision) []Decision {
	for _, d := range decisions {
		d.Point, d.Extras = slices.Clone(d.Point), slices.Clone(d.Extras)
		for i := range d.Extras {
			d.Extras[i].Numbers = slices.Clone(d.Extras[i].Numbers)
		}
		dst = append(dst, d)
	}
	return dst
}

// Machine is an online-learning algorithm as a state machine. Methods that take dst append to it and return it. Base
// has all of them but Add.
type Machine interface {
	// Open appends the decisions owed before the first record, for example a bandit's first actions. It is called once.
	// The state before it must suffice to make the same decisions, because the pipeline commits that state first.
	Open(dst []Decision) []Decision

	// Add takes the next record and appends the decisions that it brings about: none while a batch is in progress. It
	// cannot fail: a record that makes no sense to the machine takes its place as a null record.
	Add(dst []Decision, r Record) []Decision

	// Steps counts the closed steps. It must depend on how many records were added, and not on their contents.
	Steps() uint64

	// Due returns the indices of a step's decisions: count of them, from first on. Step 0 is Open. It must be a function
	// of the configuration, so that a reader of published decisions can see which are missing.
	Due(step uint64) (first uint64, count int)

	// AppendState appends the whole state, always StateLen bytes. It is private, also between steps.
	AppendState(dst []byte) []byte
	StateLen() int

	// Restore puts the machine where AppendState was called. A machine of the same configuration then goes on with the
	// same bytes. After an error the machine is unchanged.
	Restore(state []byte) error

	// Guarantee is the stream's, and every decision states it.
	Guarantee() protection.Guarantee
}

// Versioned is a Machine whose params decide which extras its decisions have. Params of an earlier version lack later
// extras, because their deployment must go on with the same bytes.
type Versioned interface {
	Machine

	// OwnExtras are the Operator.Extras of these params, in their order.
	OwnExtras() []schemas.Extra
}
