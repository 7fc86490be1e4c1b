package streams

import (
	"errors"
)

// Semantics is the version of the computation from a record's bytes to a decision. It covers decompression, decoding,
// quantisation of the gradient, noise, and the decision itself. The noise of a step depends on every bit before it. So
// a version that computes a record differently must not recompute steps that an earlier version has published. The
// number must be raised by hand when a golden file of this computation changes; semanticsOf lists the files. It is
// stored with every state.
const Semantics uint32 = 1

// Validate refuses a model without semantics.
func (m Model) Validate() error {
	if m.Semantics == 0 {
		return errors.New("pipeline: model: semantics: none")
	}
	return nil
}
