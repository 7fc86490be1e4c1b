package streams

import (
	"errors"
)

// Semantics is the version of the computation from a record's bytes to a decision: how a batch is decompressed, how an
// event is decoded, how its gradient is laid on the lattice, which noise is drawn for it, and which decision follows.
// The noise of a step depends on every bit before it. So a version that computes a record in another way must not
// repeat steps that another version has published. The number must be raised by hand when a golden file of this
// computation changes; the test of this constant lists the files. It is stored with every state.
const Semantics uint32 = 1

// Validate refuses a model without semantics.
func (m Model) Validate() error {
	if m.Semantics == 0 {
		return errors.New("pipeline: model: semantics: none")
	}
	return nil
}
