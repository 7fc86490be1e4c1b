package audit

import (
	"encoding/binary"
	"fmt"

	"oriel/mechanisms"
	"oriel/mechanisms/noise"
)

// Script is a private sum whose releases are given: whatever leaves it takes, step t releases line t. A machine over a stream of it shows what its
// decisions owe to the events other than through the sums.
type Script struct {
	lines [][]float64
	steps uint64
}

var _ mechanisms.Sum = (*Script)(nil)

// NewScript returns a script before its first line.
func NewScript(lines [][]float64) *Script { return &Script{lines: lines} }

// Add releases the next line. It panics after the last.
func (s *Script) Add(dst []float64, _ []int64, _ *noise.Chain) {
	copy(dst, s.lines[s.steps])
	s.steps++
}

// Steps returns how many lines are released.
func (s *Script) Steps() uint64 { return s.steps }

// StateLen is that of a counter.
func (s *Script) StateLen() int { return 8 }

// AppendState appends the steps.
func (s *Script) AppendState(dst []byte) []byte {
	return binary.LittleEndian.AppendUint64(dst, s.steps)
}

// Restore goes to a line.
func (s *Script) Restore(state []byte) error {
	if len(state) != s.StateLen() || binary.LittleEndian.Uint64(state) > uint64(len(s.lines)) {
		return fmt.Errorf("audit: script: a state of %d bytes is not one of %d lines", len(state), len(s.lines))
	}
	s.steps = binary.LittleEndian.Uint64(state)
	return nil
}
