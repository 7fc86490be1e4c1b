package decay

import (
	"errors"
	"fmt"

	"oriel/mechanisms/buffer"
	"oriel/mechanisms/lattice"
	"oriel/mechanisms/rational"
)

// Reading is a decayed sum of the increments of a sum, with a memory of its own: what whoever reads the increments
// computes, in the fixed point of the carry. It is a function of releases, so that it costs no privacy. Without a
// memory it decays nothing.
type Reading struct {
	decay uint32
	limit lattice.Int128
	sums  []lattice.Int128 // with sumBits fraction bits
}

// plainBits bounds the increments that a reading without a memory adds up, 2^plainBits, before it is cleared.
const plainBits = 32

// NewReading returns the reading of n coordinates before the first step. A memory is within the limits of a filter's,
// or 0: nothing decays then, and the caller clears the sums after 2³² increments at the latest.
func NewReading(memory uint64, n int) (*Reading, error) {
	if n < 1 {
		return nil, fmt.Errorf("forget: reading of dimension %d: below 1", n)
	}
	if memory == 0 {
		return &Reading{
			decay: unit, limit: lattice.Int128{Hi: 1 << (maxSum + sumBits + plainBits - 64)},
			sums: make([]lattice.Int128, n),
		}, nil
	}
	if err := checkMemory(memory); err != nil {
		return nil, err
	}
	decay := Decay(memory)
	return &Reading{decay: decay, limit: sumLimit(decay), sums: make([]lattice.Int128, n)}, nil
}

// Add takes the increments of the next step.
func (r *Reading) Add(u []lattice.Int128) {
	for i, x := range u {
		r.sums[i] = remembered(r.sums[i], r.decay, x)
	}
}

// Clear starts again from zero.
func (r *Reading) Clear() { clear(r.sums) }

// Write writes the sums in the units that the grid of the sum has.
func (r *Reading) Write(dst []float64, grid lattice.Grid) {
	grid.Exp -= sumBits
	for i, x := range r.sums {
		dst[i] = grid.Float64(x)
	}
}

// StateLen returns the length of every state of this reading: n integers of 16 bytes.
func (r *Reading) StateLen() int { return len(r.sums) * lattice.Int128Len }

// AppendState appends the sums.
func (r *Reading) AppendState(dst []byte) []byte {
	for _, x := range r.sums {
		dst = x.AppendBinary(dst)
	}
	return dst
}

// Restore makes the reading the one whose AppendState wrote state. It refuses, and leaves the reading as it was, when
// the length is another or a sum is beyond its limit; with empty, which the caller says of a reading that has nothing
// to hold, also when one is not zero.
func (r *Reading) Restore(state []byte, empty bool) error {
	if len(state) != r.StateLen() {
		return fmt.Errorf("forget: reading: %d bytes, want %d", len(state), r.StateLen())
	}
	at := func(i int) lattice.Int128 { return lattice.ParseInt128(state[i*lattice.Int128Len:]) }
	for i := range r.sums {
		switch x := at(i); {
		case empty && x != lattice.Int128{}:
			return errors.New("forget: reading: sum is not zero where nothing was added")
		case !buffer.Within(x, r.limit):
			return errors.New("forget: reading: sum is beyond its limit")
		}
	}
	for i := range r.sums {
		r.sums[i] = at(i)
	}
	return nil
}

// Weight returns N_t = Σ_{s≤t} γ^{t−s} = (1 − γ^t)/(1 − γ), what a stream remembers of t steps of 1: up to the memory.
// It is the same number on every CPU.
func Weight(memory, steps uint64) float64 {
	return float64(one-remaining(memory, steps)) / float64(one/(1<<30)*(1<<30-uint64(Decay(memory))))
}

// Left returns γ^t, what t steps leave of a sum. It is the same number on every CPU.
func Left(memory, steps uint64) float64 { return float64(remaining(memory, steps)) / one }

// one is 1 with 62 fraction bits.
const one = 1 << 62

// remaining is γ^t with 62 fraction bits, rounded down at each of its products: it errs by t·2⁻⁶² at most.
func remaining(memory, steps uint64) uint64 { return rational.Power62(Decay(memory), steps) }
