package lattice

import (
	"fmt"
	"math"
	"math/bits"
)

const (
	// CoarseBits is the usual number of bits of Λ: quantisation moves a coordinate by at most 2⁻²⁵·L, far below any
	// useful noise.
	CoarseBits = 25

	// FineBits is the largest number of bits of Λ. The squared norm of a contribution of 2³⁰ coordinates still fits in
	// 116 bits, and a rounded coordinate in 53.
	FineBits = 43
)

// maxClipExponent bounds the clip to [2⁻⁵¹², 2⁵¹²]: then q, 1/q and every 128-bit multiple of q are normal float64.
const maxClipExponent = 512

const (
	fractionBits = 52
	bias         = 1023
	signBit      = 1 << 63
	infinityBits = 0x7ff << fractionBits
)

// Grid is the lattice of one clip: unit q = 2^Exp and norm bound Λ = Lambda in units.
type Grid struct {
	Exp    int
	Lambda int64
}

// NewGrid returns the grid whose Λ = ⌊clip/q⌋ lies in [2²⁴, 2²⁵). The enforced clip is Λq ≤ clip.
func NewGrid(clip float64) (Grid, error) { return NewFineGrid(clip, CoarseBits) }

// NewFineGrid returns the grid whose Λ = ⌊clip/q⌋ has size bits, CoarseBits to FineBits. The enforced clip is Λq ≤
// clip.
func NewFineGrid(clip float64, size int) (Grid, error) {
	if size < CoarseBits || size > FineBits {
		return Grid{}, fmt.Errorf("lattice: lambda of %d bits: not between %d and %d", size, CoarseBits, FineBits)
	}
	if !(clip >= powerOfTwo(-maxClipExponent) && clip <= powerOfTwo(maxClipExponent)) {
		return Grid{}, fmt.Errorf("lattice: clip %g: not between 2^-%d and 2^%d", clip, maxClipExponent, maxClipExponent)
	}
	b := math.Float64bits(clip)
	significand := b&(1<<fractionBits-1) | 1<<fractionBits // 53 bits
	return Grid{
		Exp:    int(b>>fractionBits) - bias - (size - 1),
		Lambda: int64(significand >> (fractionBits + 1 - size)),
	}, nil
}

// Validate accepts exactly the grids that NewGrid returns.
func (g Grid) Validate() error {
	if g.Lambda < 1<<(CoarseBits-1) || g.Lambda >= 1<<CoarseBits {
		return fmt.Errorf("lattice: lambda %d: not in [2^%d, 2^%d)", g.Lambda, CoarseBits-1, CoarseBits)
	}
	return g.ValidateFine()
}

// ValidateFine accepts exactly the grids that NewFineGrid returns.
func (g Grid) ValidateFine() error {
	if g.Lambda < 1<<(CoarseBits-1) || g.Lambda >= 1<<FineBits {
		return fmt.Errorf("lattice: lambda %d: not in [2^%d, 2^%d)", g.Lambda, CoarseBits-1, FineBits)
	}
	high := maxClipExponent - g.Bits() + 1
	if low := -maxClipExponent - g.Bits() + 1; g.Exp < low || g.Exp > high {
		return fmt.Errorf("lattice: exponent %d: not between %d and %d", g.Exp, low, high)
	}
	if g.Exp == high && g.Lambda != 1<<(g.Bits()-1) {
		return fmt.Errorf("lattice: lambda %d: clip above 2^%d", g.Lambda, maxClipExponent)
	}
	return nil
}

// Bits returns the number of bits of Λ.
func (g Grid) Bits() int { return bits.Len64(uint64(g.Lambda)) }

// Unit returns q.
func (g Grid) Unit() float64 { return powerOfTwo(g.Exp) }

// Clip returns the enforced clip Λq, exactly.
func (g Grid) Clip() float64 { return float64(float64(g.Lambda) * powerOfTwo(g.Exp)) }

// Contains reports whether Σnᵢ² ≤ Λ², exactly, in 64 or 128 bits. The sensitivity of every mechanism depends on this
// check.
func (g Grid) Contains(n []int64) bool {
	var short word
	for _, x := range n {
		short = short.plus(x)
	}
	if short.exact(len(n)) {
		return short.within(g.Lambda)
	}
	return g.ContainsUpTo(n, Square(g.Lambda))
}

// ContainsUpTo reports whether Σnᵢ² ≤ Λ² and Σnᵢ² ≤ limit, exactly in 128 bits, in one pass that is fast if most
// coordinates are zero. It is exact for up to 2⁴¹ coordinates: a coordinate beyond Λ is refused before it is squared,
// so the sum stays below 2¹²⁷.
func (g Grid) ContainsUpTo(n []int64, limit Int128) bool {
	var high, low, carry uint64
	largest := uint64(g.Lambda)
	for _, x := range n {
		if x == 0 {
			continue
		}
		magnitude := uint64(x)
		if x < 0 {
			magnitude = -magnitude
		}
		if magnitude > largest {
			return false
		}
		squareHigh, squareLow := bits.Mul64(magnitude, magnitude) // below 2⁸⁶
		low, carry = bits.Add64(low, squareLow, 0)
		high += squareHigh + carry
	}
	length := Int128{Hi: int64(high), Lo: low}
	return !Square(g.Lambda).Less(length) && !limit.Less(length)
}

// powerOfTwo returns 2^k for a normal result, -1022 ≤ k ≤ 1023.
func powerOfTwo(k int) float64 { return math.Float64frombits(uint64(k+bias) << fractionBits) }
