package audit

import (
	"oriel/mechanisms"
	"oriel/mechanisms/lattice"
	"oriel/mechanisms/noise"
	"oriel/mechanisms/perstep"
)

// Scripted is a private sum that releases the numbers of a script and ignores its contributions. If two machines with
// equal scripts differ, their decisions use events in other ways than through the sums. It has neither noise nor
// privacy, so it must be used only by audits and tests.
type Scripted struct {
	perstep.Counter
	release    func(dst []float64, step uint64)
	increments []lattice.Int128
	increase   func(step uint64) []lattice.Int128 // increments of a step; nil: differences of the releases
}

var _ mechanisms.Incremental = (*Scripted)(nil)

// NewScripted returns a sum before its first step, which has number 1. release writes the numbers of a step to dst.
func NewScripted(release func(dst []float64, step uint64)) *Scripted {
	return &Scripted{release: release}
}

// Add ignores the contribution.
func (s *Scripted) Add(dst []float64, _ []int64, _ *noise.Chain) {
	step := s.Next()
	s.release(dst, step)
	if s.increase != nil {
		s.increments = s.increase(step)
		return
	}
	s.increments = s.increments[:0]
	for _, x := range dst {
		s.increments = append(s.increments, lattice.Int128{}.AddInt64(int64(max(-maxIncrement, min(maxIncrement, x)))))
	}
}

// With also scripts the increments of each step, in lattice units. Otherwise increments are the releases in lattice
// units.
func (s *Scripted) With(increments func(step uint64) []lattice.Int128) *Scripted {
	s.increase = increments
	return s
}

// maxIncrement bounds scripted increments; real increments have a similar bound.
const maxIncrement = 1 << 56

// Increments returns the increments of the last step.
func (s *Scripted) Increments() []lattice.Int128 { return s.increments }
