package decay

import (
	"fmt"
	"math"

	"oriel/mechanisms/buffer"
	"oriel/mechanisms/lattice"
	"oriel/mechanisms/rational/fit"
)

// enough bounds the ratio of the variance to the optimum, at equal guarantee, for which Fit accepts fewer poles: one
// per cent more. Each pole saved is n integers of state and a fifth of the filter's time.
const enough = 1.01

// Fit returns the filter of a memory with the fewest poles whose certificate, Ratio, is at most 1.01. Results may
// differ between platforms: store the filter, and use Fit once.
func Fit(memory uint64) (Filter, error) {
	if err := checkMemory(memory); err != nil {
		return Filter{}, err
	}
	for m := 1; m <= MaxPoles; m++ {
		if f, ok := fitted(memory, m); ok && f.Ratio() <= enough {
			return f, nil
		}
	}
	return Filter{}, fmt.Errorf("decay: memory %d: no filter of %d poles is within %g of the optimum", memory, MaxPoles, enough)
}

// fitted returns the best filter of m poles that the search finds, in dyadics.
func fitted(memory uint64, m int) (f Filter, ok bool) {
	rates, _, ok := fit.Decay(1-float64(Decay(memory))/unit, m)
	if !ok {
		return f, false
	}
	f = Filter{Memory: memory, Count: uint8(m)}
	below := uint32(unit)
	for k, r := range rates.Residues() {
		f.Poles[k] = min(uint32(math.Round(unit*(1-rates.Poles[k]))), below-1)
		below = f.Poles[k]
		f.Residues[k] = max(1, uint32(math.Round(-unit*r)))
	}
	return f, f.Validate() == nil
}

// StateLen returns the length of every state of this sum.
func (c *Sum) StateLen() int { return buffer.StateLen(len(c.sums), int(c.filter.Count)) }

// AppendState appends the state in the format of package buffer, with Ŝ in fixed point as its sums. Its buffers hold
// past noise, which together with the releases gives the decayed sums of the data since the last reset. So the state is
// private and must only ever be stored sealed.
func (c *Sum) AppendState(dst []byte) []byte {
	return buffer.AppendState(dst, c.steps, c.sums, c.row)
}

// row returns the buffers of coordinate i, one per pole.
func (c *Sum) row(i int) []lattice.Int128 { return c.buffers[i][:c.filter.Count] }

// Restore restores a state that AppendState wrote. It refuses, and leaves the sum unchanged, if the length is wrong, a
// sum or a buffer exceeds its limit, anything before the first step is not zero, or a buffer right after a reset is not
// zero.
func (c *Sum) Restore(state []byte) error {
	s, err := buffer.ParseState(state, len(c.sums), int(c.filter.Count))
	if err == nil {
		err = s.Check(c.sumLimit, c.limit[:], c.period)
	}
	if err != nil {
		return fmt.Errorf("decay: %w", err)
	}
	c.steps = s.Steps()
	s.Write(c.sums, c.row)
	clear(c.increments)
	return nil
}
