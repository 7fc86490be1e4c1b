package operators

import (
	"slices"

	"oriel/mechanisms/noise"
	"oriel/mechanisms/protection"
	"oriel/schemas/decision"
	"oriel/schemas/event"
)

// Record is an input record after decoding. A machine passes Identity on to the noise and never reads it.
type Record struct {
	Identity noise.Identity
	Key      []byte // read only if Events.Keyed: a public name, for example of an action; valid during Add
	Event    event.Event
	Null     bool // malformed, over a limit or not accepted: counts in its step and contributes nothing
}

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
			d.Extras[i].Numbers, d.Extras[i].List = slices.Clone(d.Extras[i].Numbers), slices.Clone(d.Extras[i].List)
		}
		dst = append(dst, d)
	}
	return dst
}

// Machine is an online-learning algorithm as a state machine. Methods with a parameter dst append to it and return it.
// Base implements all methods but Add and Close.
type Machine interface {
	// Open appends the decisions that are due before the first record, for example a bandit's first actions. It is
	// called once. The state before the call must suffice to compute the same decisions again, because the pipeline
	// commits that state first.
	Open(dst []Decision) []Decision

	// Add takes the next record of the open step. Add cannot fail: a record that the machine cannot use counts as a
	// null record. A null record is added too, because its key may answer an action.
	Add(r Record)

	// Close closes the open step and appends the decisions that are due after it. The caller decides when a step ends,
	// after a number of records or at a time, because the machine must not know the reason.
	Close(dst []Decision) []Decision

	// Steps returns the number of closed steps.
	Steps() uint64

	// Due returns the indices of the decisions of a step: count indices, starting with first. Step 0 stands for Open.
	// Due must be a function of the configuration, because readers of published decisions use it to find missing ones.
	Due(step uint64) (first uint64, count int)

	// AppendState appends the complete state, StateLen bytes. The state is private, also between steps. Its length must
	// depend only on the configuration and on the partitions of the records so far, null records included.
	AppendState(dst []byte) []byte
	StateLen() int

	// Restore sets the machine to a state that AppendState saved. A machine of the same configuration then produces the
	// same bytes as the original. After an error the machine is unchanged.
	Restore(state []byte) error

	// Guarantee returns the guarantee of the stream, which every decision states.
	Guarantee() protection.Guarantee
}

// Naming is a Machine that counts names. AppendState does not hold the names of the open step, because there may be any
// number of them: the caller saves them beside the state, and gives them back after Restore.
type Naming interface {
	Naming() Names
}

// Names are the names of an open step with their counts, which a mechanisms.Stream has.
type Names interface {
	// NamesPart returns further names of the open step with the counts that no part has, at most max bytes, if there are
	// any. It is valid until the next call.
	NamesPart(max int) (payload []byte, is bool)

	// NamesAgain makes the next parts hold the open step as a whole.
	NamesAgain()

	// TakeNames adds a part. After an error the machine must not be used.
	TakeNames(payload []byte) error

	// NamesBytes returns the memory that the names take. It is private.
	NamesBytes() int
}
