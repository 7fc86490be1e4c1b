package pipetest

import (
	"encoding/binary"
	"errors"

	"oriel/mechanisms/protection"
	"oriel/operators"
)

// Blind is a machine that does not look at events: each record is a step, whose decision is its own index and the
// offset of its record. With it, everything that leaves the pipeline must be equal for inputs that are publicly equal;
// and its decisions say which records were taken, and in what order.
type Blind struct {
	States protection.Guarantee // what its decisions print; nothing of it is true
	Second uint64               // each so many steps a further decision, for the second topic; 0: none ever
	steps  uint64
}

// Seat opens machines like b, at step 0, for pipeline.Model.
func (b Blind) Seat([]byte) (func([32]byte) (operators.Machine, error), error) {
	return func([32]byte) (operators.Machine, error) {
		machine := b
		return &machine, nil
	}, nil
}

// Open owes nothing.
func (b *Blind) Open(dst []operators.Decision) []operators.Decision { return dst }

// Add decides.
func (b *Blind) Add(dst []operators.Decision, r operators.Record) []operators.Decision {
	b.steps++
	first, count := b.Due(b.steps)
	for i := range uint64(count) {
		dst = append(dst, operators.Decision{
			Index: first + i, Step: b.steps, Point: []float64{float64(first + i), float64(r.Identity.Offset)}, Output: uint8(i),
		})
	}
	return dst
}

// Steps counts records.
func (b *Blind) Steps() uint64 { return b.steps }

// Due is one decision a step, and at each Second-th one more.
func (b *Blind) Due(step uint64) (first uint64, count int) {
	switch {
	case step == 0:
		return 0, 0
	case b.Second == 0:
		return step, 1
	case step%b.Second == 0:
		return step + step/b.Second - 1, 2
	}
	return step + step/b.Second, 1
}

// StateLen is that of a number.
func (b *Blind) StateLen() int { return 8 }

// AppendState appends the number of records.
func (b *Blind) AppendState(dst []byte) []byte { return binary.LittleEndian.AppendUint64(dst, b.steps) }

// Restore takes it back.
func (b *Blind) Restore(state []byte) error {
	if len(state) != b.StateLen() {
		return errors.New("pipetest: state of a blind machine: wrong length")
	}
	b.steps = binary.LittleEndian.Uint64(state)
	return nil
}

// Guarantee is what it was given.
func (b *Blind) Guarantee() protection.Guarantee { return b.States }
