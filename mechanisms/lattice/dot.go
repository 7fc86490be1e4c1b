package lattice

import (
	"fmt"
	"math"
	"math/bits"
)

// Dot returns Σaᵢbᵢ in one fixed order: four interleaved sums over the indices equal to 0, 1, 2, 3 modulo 4, then
// (s₀+s₁)+(s₂+s₃). Four sums let a CPU run four additions in parallel. The order determines bytes and must not change.
// It panics if the lengths differ.
func Dot(a, b []float64) float64 {
	if len(a) != len(b) {
		panic(fmt.Sprintf("BUG: lattice: Dot of %d and %d entries", len(a), len(b)))
	}
	var s0, s1, s2, s3 float64
	for len(a) >= 4 && len(b) >= 4 {
		s0 += float64(a[0] * b[0])
		s1 += float64(a[1] * b[1])
		s2 += float64(a[2] * b[2])
		s3 += float64(a[3] * b[3])
		a, b = a[4:], b[4:]
	}
	switch len(a) {
	case 3:
		s2 += float64(a[2] * b[2])
		fallthrough
	case 2:
		s1 += float64(a[1] * b[1])
		fallthrough
	case 1:
		s0 += float64(a[0] * b[0])
	}
	return float64(s0+s1) + float64(s2+s3)
}

// Norm returns ‖a‖₂ in the order of Dot, without intermediate overflow or underflow: entries are first scaled by an
// exact power of two if their squares would leave the range. It is +Inf if an entry is infinite or the norm itself
// overflows, and NaN if an entry is NaN and none is infinite.
func Norm(a []float64) float64 {
	top := largest(a)
	switch {
	case top == 0:
		return 0
	case top >= infinityBits:
		return notFiniteNorm(a)
	}
	exponent := int(top>>fractionBits) - bias
	if exponent >= -headroom && exponent <= headroom {
		return math.Sqrt(Dot(a, a))
	}
	// Both 2^k and 2^-k must be normal; a subnormal entry is at least 2⁻⁵² after scaling, and the largest is below 4.
	k := min(max(exponent, -bias+1), bias-1)
	return float64(scaledNorm(a, powerOfTwo(-k)) * powerOfTwo(k))
}

// scaledNorm returns ‖scale·v‖₂, scale a power of two that keeps the squares in range.
func scaledNorm(v []float64, scale float64) float64 {
	var s0, s1, s2, s3 float64
	for len(v) >= 4 {
		x0, x1, x2, x3 := float64(v[0]*scale), float64(v[1]*scale), float64(v[2]*scale), float64(v[3]*scale)
		s0 += float64(x0 * x0)
		s1 += float64(x1 * x1)
		s2 += float64(x2 * x2)
		s3 += float64(x3 * x3)
		v = v[4:]
	}
	for i, x := range v {
		x = float64(x * scale)
		switch i {
		case 0:
			s0 += float64(x * x)
		case 1:
			s1 += float64(x * x)
		default:
			s2 += float64(x * x)
		}
	}
	return math.Sqrt(float64(s0+s1) + float64(s2+s3))
}

// notFiniteNorm returns the norm of a vector with an infinite or NaN entry.
func notFiniteNorm(a []float64) float64 {
	norm := math.NaN()
	for _, x := range a {
		if math.IsInf(x, 0) {
			norm = math.Inf(1)
		}
	}
	return norm
}

// word is a sum of squares in 64 bits. It is exact for up to wordCount numbers from −wordSize to wordSize − 1, because
// their sum is at most 2⁶². Nearly all contributions satisfy this.
type word struct{ sum, sizes uint64 }

const (
	wordCount = 1 << 12
	wordSize  = 1 << 25
)

// plus returns the sum with a square added. It takes a value, not a pointer, so that the sum stays in registers.
func (w word) plus(x int64) word { return word{w.sum + uint64(x*x), w.sizes | uint64(x^x>>63)} }

// exact reports whether the sum of count numbers is exact. If it is not, the sum must not be used.
func (w word) exact(count int) bool { return w.sizes < wordSize && count <= wordCount }

// within reports whether an exact sum is at most the square of r ≥ 0.
func (w word) within(r int64) bool { return squares{low: w.sum}.within(r) }

// squares is a sum of squares of fewer than 2⁶⁴ numbers below 2⁶³ in absolute value. A sum beyond 127 bits is recorded
// only as too large.
type squares struct {
	low, high uint64
	lost      bool
}

// plus returns the sum with a square added.
func (s squares) plus(x int64) squares {
	magnitude := uint64(x)
	if x < 0 {
		magnitude = -magnitude
	}
	high, low := bits.Mul64(magnitude, magnitude)
	var carry uint64
	s.low, carry = bits.Add64(s.low, low, 0)
	s.high, carry = bits.Add64(s.high, high, carry)
	s.lost = s.lost || carry > 0
	return s
}

// within reports whether the sum is at most the square of r ≥ 0.
func (s squares) within(r int64) bool {
	high, low := bits.Mul64(uint64(r), uint64(r))
	return !s.lost && (s.high < high || s.high == high && s.low <= low)
}
