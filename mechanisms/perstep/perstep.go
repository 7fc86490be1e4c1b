package perstep

import (
	"encoding/binary"
	"fmt"

	"oriel/mechanisms/lattice"
	"oriel/mechanisms/noise"
)

// PerStep is the mechanism of one stream. It is not safe for concurrent use.
type PerStep struct {
	Counter
	grid     lattice.Grid
	sampler  noise.Sampler
	instance uint16
	drawn    []int64 // scratch: the draws n_t
}

// New returns the mechanism before its first step. sampler must have the calibration's scale and dimension n; instance
// separates the noise of several mechanisms on one chain.
func New(grid lattice.Grid, n int, sampler noise.Sampler, instance uint16) (*PerStep, error) {
	if n < 1 {
		return nil, fmt.Errorf("perstep: dimension %d: below 1", n)
	}
	if err := grid.Validate(); err != nil {
		return nil, fmt.Errorf("perstep: grid: %w", err)
	}
	return &PerStep{grid: grid, sampler: sampler, instance: instance, drawn: make([]int64, n)}, nil
}

// Fresh returns a new mechanism before its first step, as New would make it. Both share sampler and scratch, so only
// one of them may be used at a time.
func (o *PerStep) Fresh() *PerStep {
	fresh := *o
	fresh.steps = 0
	return &fresh
}

// Add takes the contribution sum v of step Steps()+1 and writes its release to dst. The chain must have absorbed every
// event of the step, and closed it, BEFORE. The key of the step's noise is node {instance, block: step number}, level
// and index 0.
func (o *PerStep) Add(dst []float64, v []lattice.Int128, chain *noise.Chain) {
	if len(v) != len(o.drawn) || len(dst) != len(o.drawn) {
		panic(fmt.Sprintf("BUG: perstep: contribution sum has %d entries and release %d, want %d", len(v), len(dst), len(o.drawn)))
	}
	o.steps++
	o.sampler.Fill(o.drawn, chain.Seed(noise.NodeID{Instance: o.instance, Block: o.steps}))
	for i, x := range v {
		dst[i] = o.grid.Float64(x.AddInt64(o.drawn[i]))
	}
}

// stateLen is the length of a state, which is the step, u64, little-endian.
const stateLen = 8

// Counter is the state of a sum that keeps only the number of its last step. It depends on no event.
type Counter struct{ steps uint64 }

// Next counts a step, and returns its number.
func (c *Counter) Next() uint64 {
	c.steps++
	return c.steps
}

// Steps returns the number of the last step, 0 before the first.
func (c *Counter) Steps() uint64 { return c.steps }

// StateLen returns the length of every state.
func (c *Counter) StateLen() int { return stateLen }

// AppendState appends the state.
func (c *Counter) AppendState(dst []byte) []byte {
	return binary.LittleEndian.AppendUint64(dst, c.steps)
}

// Restore restores a state that AppendState wrote. It refuses any other length, and leaves the counter unchanged.
func (c *Counter) Restore(state []byte) error {
	if len(state) != stateLen {
		return fmt.Errorf("perstep: state: %d bytes, want %d", len(state), stateLen)
	}
	c.steps = binary.LittleEndian.Uint64(state)
	return nil
}
