package given

import (
	"encoding/binary"
	"fmt"

	"oriel/mechanisms"
	"oriel/mechanisms/lattice"
	"oriel/mechanisms/noise"
)

// Sum is a private sum whose release of a step is what a function writes.
type Sum struct {
	release    func(dst []float64, step uint64)
	steps      uint64
	increments []lattice.Int128
	told       func(step uint64) []lattice.Int128 // nil: made of the releases
}

var _ mechanisms.Incremental = (*Sum)(nil)

// New returns a sum before its first step, numbered 1.
func New(release func(dst []float64, step uint64)) *Sum { return &Sum{release: release} }

// Add takes a leaf and does not look at it.
func (s *Sum) Add(dst []float64, _ []int64, _ *noise.Chain) {
	s.steps++
	s.release(dst, s.steps)
	if s.told != nil {
		s.increments = s.told(s.steps)
		return
	}
	s.increments = s.increments[:0]
	for _, x := range dst {
		s.increments = append(s.increments, lattice.Int128{}.AddInt64(int64(max(-most, min(most, x)))))
	}
}

// With gives increments too: those of a step, lattice units. Without it they are the release in whole units, as good as
// any.
func (s *Sum) With(increments func(step uint64) []lattice.Int128) *Sum {
	s.told = increments
	return s
}

// most is a bound on increments, as carries have one.
const most = 1 << 56

// Increments returns those of the last step.
func (s *Sum) Increments() []lattice.Int128 { return s.increments }

// Steps returns the number of the last step.
func (s *Sum) Steps() uint64 { return s.steps }

// AppendState appends the number of steps.
func (s *Sum) AppendState(dst []byte) []byte { return binary.LittleEndian.AppendUint64(dst, s.steps) }

// StateLen returns the length of every state.
func (s *Sum) StateLen() int { return 8 }

// Restore takes what AppendState has written.
func (s *Sum) Restore(state []byte) error {
	if len(state) != s.StateLen() {
		return fmt.Errorf("given: state: %d bytes, want %d", len(state), s.StateLen())
	}
	s.steps = binary.LittleEndian.Uint64(state)
	return nil
}
