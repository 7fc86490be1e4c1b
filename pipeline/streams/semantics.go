package streams

import (
	"errors"
)

// Semantics numbers what becomes of a record's bytes: how a batch is decompressed, how an event is decoded, how its
// gradient is laid on the lattice, what noise is drawn for it and which decision follows. The noise of a step depends
// on every bit before it, so a version that computes one record otherwise must not repeat steps that another version
// has made readable. The number is raised by hand when a golden file of these changes; the test of this constant lists
// them and says so. It is stored with every state.
const Semantics uint32 = 1

// Validate refuses a model that does not say its semantics.
func (m Model) Validate() error {
	if m.Semantics == 0 {
		return errors.New("pipeline: model: semantics: none")
	}
	return nil
}
