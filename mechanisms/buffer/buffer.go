package buffer

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/big"
	"math/bits"

	"oriel/mechanisms/lattice"
	"oriel/mechanisms/noise"
)

// FractionBits is the number of fraction bits of poles and residues.
const (
	FractionBits = 30
	unit         = 1 << FractionBits
)

// Reach bounds a draw by Reach·s. noise.Gaussian stays below 29s, because every draw that it makes is decided with 576
// bits.
const Reach = 29

// Plus returns sum + r·c. The high words wrap in two's complement, which gives the right result because the product
// fits.
func Plus(sum, c lattice.Int128, r int64) lattice.Int128 {
	hi, lo := bits.Mul64(c.Lo, uint64(r))
	hi += uint64(c.Hi*r) - c.Lo&uint64(r>>63)
	lo, carry := bits.Add64(sum.Lo, lo, 0)
	hi, _ = bits.Add64(uint64(sum.Hi), hi, carry)
	return lattice.Int128{Hi: int64(hi), Lo: lo}
}

// Decayed returns ⌊q·c/2³⁰⌋ + x, the buffer c after one step with the new draw x.
func Decayed(c lattice.Int128, q uint32, x lattice.Int128) lattice.Int128 {
	hi, lo := bits.Mul64(c.Lo, uint64(q))
	hi += uint64(c.Hi) * uint64(q)
	lo, carry := bits.Add64(lo>>FractionBits|hi<<(64-FractionBits), x.Lo, 0)
	hi, _ = bits.Add64(uint64(int64(hi)>>FractionBits), uint64(x.Hi), carry)
	return lattice.Int128{Hi: int64(hi), Lo: lo}
}

// Within reports whether |x| ≤ limit.
func Within(x, limit lattice.Int128) bool {
	if x.Hi < 0 {
		x = lattice.Int128{Hi: ^x.Hi, Lo: ^x.Lo} // |x| − 1, for negative x
		return x.Hi < limit.Hi || x.Hi == limit.Hi && x.Lo < limit.Lo
	}
	return x.Hi < limit.Hi || x.Hi == limit.Hi && x.Lo <= limit.Lo
}

// errScale means that samplers cannot have the scale.
var errScale = errors.New("scale: belongs to no sampler")

// Limits writes to dst the inclusive bound on the buffer C of each pole. It refuses a scale s at which Σ |r|·C, the sum
// of a carry's products over the poles, could exceed 2¹²⁶ in units of 2^{−f−30}. With |n| ≤ N = ⌈29s⌉ + 1, |C| ≤ (2^f·N
// + 1)/(1 − q), because each step truncates by less than 1.
func Limits(dst []lattice.Int128, poles []uint32, residue func(k int) int64, fraction uint, s noise.Scale) error {
	if s.Mant == 0 || s.Exp > 64 || s.Exp < -1100 {
		return errScale
	}
	n := new(big.Int).SetUint64(s.Mant)
	n.Mul(n, big.NewInt(Reach))
	if s.Exp >= 0 {
		n.Lsh(n, uint(s.Exp))
	} else {
		n.Rsh(n, uint(-s.Exp)).Add(n, big.NewInt(1))
	}
	n.Add(n, big.NewInt(1))
	overflow := n.BitLen() > 62 // draws must fit an int64
	n.Lsh(n, fraction).Add(n, big.NewInt(1)).Lsh(n, FractionBits)
	products := new(big.Int) // Σ |r|·C plus the half that rounding adds
	products.Lsh(big.NewInt(1), FractionBits+fraction)
	for k, q := range poles {
		c := new(big.Int).Quo(n, big.NewInt(unit-int64(q)))
		overflow = overflow || c.BitLen() > 126-FractionBits
		product := new(big.Int).Mul(c, big.NewInt(residue(k)))
		products.Add(products, product.Abs(product))
		dst[k] = lattice.Int128{
			Hi: new(big.Int).Rsh(c, 64).Int64(), Lo: new(big.Int).And(c, new(big.Int).SetUint64(1<<64-1)).Uint64(),
		}
	}
	if overflow || products.BitLen() > 126 {
		return fmt.Errorf("scale %s: too large for the buffers of this filter", s)
	}
	return nil
}

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
