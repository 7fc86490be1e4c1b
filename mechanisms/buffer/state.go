package buffer

import (
	"encoding/binary"
	"errors"
	"fmt"

	"oriel/mechanisms/lattice"
)

// A state of a carry is, little-endian: the step, u64; a sum of each coordinate, n × 16 bytes; the buffers, n × m × 16
// bytes, grouped by coordinate. Its length depends only on n and m, so that the length of a sealed state reveals
// nothing.

// stepLen is the length of the step.
const stepLen = 8

// StateLen returns the length of every state of n coordinates with m buffers each.
func StateLen(n, m int) int { return stepLen + n*(1+m)*lattice.Int128Len }

// AppendState appends a state. row must return the buffers of coordinate i.
func AppendState(dst []byte, steps uint64, sums []lattice.Int128, row func(i int) []lattice.Int128) []byte {
	dst = binary.LittleEndian.AppendUint64(dst, steps)
	for _, x := range sums {
		dst = x.AppendBinary(dst)
	}
	for i := range sums {
		for _, x := range row(i) {
			dst = x.AppendBinary(dst)
		}
	}
	return dst
}

// State is an encoded state of the right length. Its numbers are not checked.
type State struct {
	bytes []byte
	n, m  int
}

// ParseState returns an encoded state, and refuses any length other than StateLen.
func ParseState(state []byte, n, m int) (State, error) {
	if len(state) != StateLen(n, m) {
		return State{}, fmt.Errorf("state: %d bytes, want %d", len(state), StateLen(n, m))
	}
	return State{state, n, m}, nil
}

// Steps returns the step.
func (s State) Steps() uint64 { return binary.LittleEndian.Uint64(s.bytes) }

// Sum returns the sum of a coordinate.
func (s State) Sum(i int) lattice.Int128 { return s.at(i) }

// Buffer returns buffer k of a coordinate.
func (s State) Buffer(i, k int) lattice.Int128 { return s.at(s.n + i*s.m + k) }

func (s State) at(k int) lattice.Int128 {
	return lattice.ParseInt128(s.bytes[stepLen+k*lattice.Int128Len:])
}

// Check reports a sum or a buffer that no state of this step can have. Sums must be within sumLimit, and buffer k
// within limits[k], inclusive. Sums must be zero before the first step, and buffers after each step that period
// divides.
func (s State) Check(sumLimit lattice.Int128, limits []lattice.Int128, period uint64) error {
	steps := s.Steps()
	for i := range s.n {
		switch x := s.Sum(i); {
		case steps == 0 && x != lattice.Int128{}:
			return errors.New("state: sum is not zero before the first step")
		case !Within(x, sumLimit):
			return errors.New("state: sum is beyond its limit")
		}
		for k := range s.m {
			switch x := s.Buffer(i, k); {
			case steps%period == 0 && x != lattice.Int128{}:
				return errors.New("state: buffer is not zero before the first step or after a reset")
			case !Within(x, limits[k]):
				return errors.New("state: buffer is beyond its limit")
			}
		}
	}
	return nil
}

// Write writes all sums to sums, and the buffers of coordinate i to row(i).
func (s State) Write(sums []lattice.Int128, row func(i int) []lattice.Int128) {
	for i := range sums {
		sums[i] = s.Sum(i)
		for k, buffers := 0, row(i); k < s.m; k++ {
			buffers[k] = s.Buffer(i, k)
		}
	}
}
