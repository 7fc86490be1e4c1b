package mechtest

import (
	"encoding/binary"
	"fmt"
	"testing"

	"oriel/mechanisms"
	"oriel/mechanisms/noise"
)

// given is a sum whose releases are given, whatever its leaves are: release writes that of a step. A machine over it
// sees nothing of its events but what it takes from them past the private sum.
type given struct {
	release func(dst []float64, step uint64)
	steps   uint64
}

// GivenStream opens a stream whose public sums are those of release. Its Guarantee is the plan's, and says nothing.
func GivenStream(
	tb testing.TB, c mechanisms.Config, p mechanisms.Plan, release func(dst []float64, step uint64),
) *mechanisms.Stream {
	tb.Helper()
	stream, err := mechanisms.NewStream(c, p, [32]byte{2}, &given{release: release})
	if err != nil {
		tb.Fatal(err)
	}
	return stream
}

// Add takes a leaf and does not look at it.
func (g *given) Add(dst []float64, _ []int64, _ *noise.Chain) {
	g.steps++
	g.release(dst, g.steps)
}

// Steps returns the number of the last step.
func (g *given) Steps() uint64 { return g.steps }

// AppendState appends the number of steps.
func (g *given) AppendState(dst []byte) []byte { return binary.LittleEndian.AppendUint64(dst, g.steps) }

// StateLen returns the length of every state.
func (g *given) StateLen() int { return len(g.AppendState(nil)) }

// Restore takes what AppendState has written.
func (g *given) Restore(state []byte) error {
	if len(state) != g.StateLen() {
		return fmt.Errorf("mechtest: state: %d bytes, want %d", len(state), g.StateLen())
	}
	g.steps = binary.LittleEndian.Uint64(state)
	return nil
}
