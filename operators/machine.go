package operators

import (
	"slices"

	"oriel/mechanisms/protection"
	"oriel/schemas/decision"
)

// Decision is one decision that a machine publishes. Its slices belong to the machine and are valid until the machine's
// next call.
type Decision struct {
	Index  uint64                // identifies the decision within its stream and incarnation; public, ascending
	Step   uint64                // the step t that closed; Point is x_{t+1}
	Point  []float64             // the decision: a dense vector
	Extras []decision.ExtraValue // values of Operator.Extras in their order: either all of them or none
	Output uint8                 // topic of the decision: 0, or 1 for the second topic (SecondTopic)
}

// AppendCopies appends copies of decisions, which remain valid after the machine's next call.
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

// Machine is an online-learning algorithm as a state machine. Methods with a parameter dst append to it and return it.
// Base implements all methods but Add.
type Machine interface {
	// Open appends the decisions that are due before the first record, for example a bandit's first actions. It is
	// called once. The state before the call must suffice to compute the same decisions again, because the pipeline
	// commits that state first.
	Open(dst []Decision) []Decision

	// Add takes the next record and appends the decisions that are due after it. While a step is open, none are due.
	// Add cannot fail: a record that the machine cannot use counts as a null record.
	Add(dst []Decision, r Record) []Decision

	// Steps returns the number of closed steps. It must depend only on the number of records added, not on their
	// contents.
	Steps() uint64

	// Due returns the indices of the decisions of a step: count indices, starting with first. Step 0 stands for Open.
	// Due must be a function of the configuration, because readers of published decisions use it to find missing ones.
	Due(step uint64) (first uint64, count int)

	// AppendState appends the complete state, always StateLen bytes. The state is private, also between steps.
	AppendState(dst []byte) []byte
	StateLen() int

	// Restore sets the machine to a state that AppendState saved. A machine of the same configuration then produces the
	// same bytes as the original. After an error the machine is unchanged.
	Restore(state []byte) error

	// Guarantee returns the guarantee of the stream, which every decision states.
	Guarantee() protection.Guarantee
}
