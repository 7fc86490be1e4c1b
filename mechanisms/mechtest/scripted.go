package mechtest

import (
	"oriel/mechanisms"
	"oriel/mechanisms/lattice"
	"oriel/mechanisms/noise"
	"oriel/mechanisms/perstep"
	"oriel/mechanisms/steps"
)

// Scripted is a private sum that releases the numbers of a script and ignores its contributions. If two machines with
// equal scripts differ, their decisions use events in other ways than through the sums. It has neither noise nor
// privacy.
type Scripted struct {
	perstep.Counter
	release    func(dst []float64, step uint64)
	increments []lattice.Int128
}

var _ mechanisms.Incremental = (*Scripted)(nil)

// NewScripted returns a sum before its first step, which has number 1. release writes the numbers of a step to dst.
func NewScripted(release func(dst []float64, step uint64)) *Scripted {
	return &Scripted{release: release}
}

// Add ignores the contribution.
func (s *Scripted) Add(dst []float64, _ []lattice.Int128, _ *noise.Chain) {
	s.release(dst, s.Next())
	s.increments = s.increments[:0]
	for _, x := range dst {
		s.increments = append(s.increments, lattice.Int128{}.AddInt64(int64(max(-maxIncrement, min(maxIncrement, x)))))
	}
}

// maxIncrement bounds scripted increments; real increments have a similar bound.
const maxIncrement = 1 << 56

// Increments returns the increments of the last step: the releases, in lattice units.
func (s *Scripted) Increments() []lattice.Int128 { return s.increments }

// Counted is a stream whose steps close after B records.
type Counted struct {
	*mechanisms.Stream
	count steps.Count
}

// ByCount returns a stream before its first record as a Counted. B is the batch of its configuration.
func ByCount(s *mechanisms.Stream) *Counted {
	return &Counted{Stream: s, count: steps.Count{Batch: s.Batch()}}
}

// Add takes a record, and reports whether it has closed a step.
func (s *Counted) Add(id noise.Identity, v []float64) (closed bool) {
	s.Stream.Add(id, v)
	if !s.count.Take() {
		return false
	}
	s.Close()
	return true
}

// AppendState appends the count and the stream's state.
func (s *Counted) AppendState(dst []byte) []byte {
	return s.Stream.AppendState(s.count.AppendBinary(dst))
}

// StateLen returns the length of a state.
func (s *Counted) StateLen() int { return s.Stream.StateLen() + steps.CountLen }

// Restore restores a state that AppendState wrote, or refuses it and leaves the stream unchanged.
func (s *Counted) Restore(state []byte) error {
	count := s.count
	rest, err := count.Cut(state)
	if err != nil {
		return err
	}
	if err := s.Stream.Restore(rest); err != nil {
		return err
	}
	s.count = count
	return nil
}

// OneHot is a contribution.Quantiser for a histogram. It takes the number of a cell, 0 … n−1, and sets the cell's
// coordinate to Λ. For any other number the contribution is zero. Two contributions are at most Λ√2 apart, and a
// contribution is at most Λ from the null contribution.
type OneHot struct{ Short bool } // Short plants a fault: a replace distance that assumes both counts in one cell

// Entries returns 1.
func (OneHot) Entries() int { return 1 }

// Distances returns the squares of Λ√2 and Λ, or with the fault Λ and Λ.
func (q OneHot) Distances(g lattice.Grid) (replace, zeroOut lattice.Int128) {
	square := lattice.Square(g.Lambda)
	if q.Short {
		return square, square
	}
	return square.Add(square), square
}

// Quantise sets the cell to Λ.
func (OneHot) Quantise(g lattice.Grid, dst []int64, v []float64) {
	if i := int(v[0]); v[0] >= 0 && v[0] < float64(len(dst)) {
		dst[i] = g.Lambda
	}
}
