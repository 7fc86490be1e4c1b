package blt

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/big"
	"math/bits"

	"oriel/mechanisms/lattice"
	"oriel/mechanisms/noise"
)

// A state is, little-endian: the step, u64; the total, n × 16 bytes; the buffers, n × m × 16 bytes, those of a coordinate together. The
// width depends on n and m alone, so that a sealed state shows nothing.

// StateLen returns the length of every state of this carry.
func (c *Carry) StateLen() int {
	return 8 + len(c.total)*(1+int(c.filter.Count))*lattice.Int128Len
}

// AppendState appends the state. It holds the clean total, and past noise in its buffers: it is private, and is only ever sealed.
func (c *Carry) AppendState(dst []byte) []byte {
	dst = binary.LittleEndian.AppendUint64(dst, c.steps)
	for _, x := range c.total {
		dst = x.AppendBinary(dst)
	}
	for i := range c.buffers {
		for _, x := range c.buffers[i][:c.filter.Count] {
			dst = x.AppendBinary(dst)
		}
	}
	return dst
}

// Restore makes the carry the one whose AppendState wrote state. It refuses, and leaves the carry as it was, when the length is
// another, a total or a buffer is beyond its limit, or anything is not zero before the first step.
func (c *Carry) Restore(state []byte) error {
	if len(state) != c.StateLen() {
		return fmt.Errorf("blt: state: %d bytes, want %d", len(state), c.StateLen())
	}
	steps, totals := binary.LittleEndian.Uint64(state), state[8:]
	buffers := totals[len(c.total)*lattice.Int128Len:]
	if steps == 0 {
		for _, b := range totals {
			if b != 0 {
				return errors.New("blt: state: not zero before the first step")
			}
		}
	}
	m := int(c.filter.Count)
	at := func(i, k int) lattice.Int128 { return lattice.ParseInt128(buffers[(i*m+k)*lattice.Int128Len:]) }
	bound := totalLimit(steps, c.grid.Lambda)
	for i := range c.total {
		if !within(lattice.ParseInt128(totals[i*lattice.Int128Len:]), bound) {
			return errors.New("blt: state: total is beyond its limit")
		}
		for k := range m {
			if !within(at(i, k), c.limit[k]) {
				return errors.New("blt: state: buffer is beyond its limit")
			}
		}
	}
	c.steps = steps
	for i := range c.total {
		c.total[i] = lattice.ParseInt128(totals[i*lattice.Int128Len:])
		for k := range m {
			c.buffers[i][k] = at(i, k)
		}
	}
	return nil
}

// maxBatchLog bounds the leaves of a step by 2³¹, as mechanisms.Config does. The batch itself is not known here.
const maxBatchLog = 31

// totalLimit returns steps·2³¹·Λ < 2¹²⁰, which no coordinate of a total passes after that many steps: a leaf's is at most Λ.
func totalLimit(steps uint64, lambda int64) lattice.Int128 {
	hi, lo := bits.Mul64(steps, uint64(lambda)<<maxBatchLog)
	return lattice.Int128{Hi: int64(hi), Lo: lo}
}

// within reports |x| ≤ limit.
func within(x, limit lattice.Int128) bool {
	if x.Hi < 0 {
		x = lattice.Int128{Hi: ^x.Hi, Lo: ^x.Lo} // |x| − 1
		return x.Hi < limit.Hi || x.Hi == limit.Hi && x.Lo < limit.Lo
	}
	return x.Hi < limit.Hi || x.Hi == limit.Hi && x.Lo <= limit.Lo
}

// reach bounds a draw by reach·s: noise.Gaussian stays below 29s, since it decides a draw with at most 576 bits or not at all.
const reach = 29

// limits returns bounds on the buffers, and refuses a scale at which a product of carry could pass 2¹²⁶. With |n| ≤ N = ⌈29s⌉ + 1,
// |C_k| ≤ (2^f·N + 1)/(1 − q_k), since each step truncates by less than 1.
func (f Filter) limits(s noise.Scale) (limit [MaxPoles]lattice.Int128, err error) {
	if s.Mant == 0 || s.Exp > 64 || s.Exp < -1100 {
		return limit, errors.New("blt: scale: not that of a sampler")
	}
	n := new(big.Int).SetUint64(s.Mant)
	n.Mul(n, big.NewInt(reach))
	if s.Exp >= 0 {
		n.Lsh(n, uint(s.Exp))
	} else {
		n.Rsh(n, uint(-s.Exp)).Add(n, big.NewInt(1))
	}
	n.Add(n, big.NewInt(1))
	overflow := n.BitLen() > 62 // a draw is an int64
	n.Lsh(n, uint(f.Shift)).Add(n, big.NewInt(1)).Lsh(n, fractionBits)
	products := new(big.Int) // Σ |R_k|·C_k, and the rounding half
	products.Lsh(big.NewInt(1), fractionBits+uint(f.Shift))
	for k := range f.Count {
		c := new(big.Int).Quo(n, big.NewInt(unit-int64(f.Poles[k])))
		overflow = overflow || c.BitLen() > 126-fractionBits
		product := new(big.Int).Mul(c, big.NewInt(int64(f.Residues[k])))
		products.Add(products, product.Abs(product))
		limit[k] = lattice.Int128{Hi: new(big.Int).Rsh(c, 64).Int64(), Lo: new(big.Int).And(c, new(big.Int).SetUint64(1<<64-1)).Uint64()}
	}
	if overflow || products.BitLen() > 126 {
		return limit, fmt.Errorf("blt: scale %s: too large for the buffers of this filter", s)
	}
	return limit, nil
}
