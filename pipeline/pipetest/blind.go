package pipetest

import (
	"encoding/binary"
	"errors"

	"oriel/mechanisms/dp"
	"oriel/operators"
)

// Blind is a machine that does not look at events: each record is a step, whose decision is its own number and the offset of its record. With
// it, everything that leaves the pipeline must be equal for inputs that are publicly equal; and its decisions say which records were taken, and in
// what order.
type Blind struct {
	States dp.Guarantee // what its decisions print; nothing of it is true
	steps  uint64
}

// Open owes nothing.
func (b *Blind) Open(dst []operators.Decision) []operators.Decision { return dst }

// Add decides.
func (b *Blind) Add(dst []operators.Decision, r operators.Record) []operators.Decision {
	b.steps++
	return append(dst, operators.Decision{Index: b.steps, Step: b.steps, Point: []float64{float64(b.steps), float64(r.Identity.Offset)}})
}

// Steps counts records.
func (b *Blind) Steps() uint64 { return b.steps }

// Due is one decision a step.
func (b *Blind) Due(step uint64) (first uint64, count int) { return step, int(min(step, 1)) }

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
func (b *Blind) Guarantee() dp.Guarantee { return b.States }
