package lattice

import "math/bits"

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
