package noise

import (
	"math"
	"math/bits"
)

// shiftRight returns the low 128 bits of x·2^-by; −64 ≤ by ≤ 192. The caller knows that nothing is lost at the top.
func shiftRight(x [3]uint64, by int) (hi, lo uint64) {
	if by < 0 { // only bits that are zero leave
		up := uint(-by)
		return x[1]<<up | x[0]>>(64-up), x[0] << up
	}
	for ; by >= 64; by -= 64 {
		x[0], x[1], x[2] = x[1], x[2], 0
	}
	down := uint(by)
	return x[2]<<(64-down) | x[1]>>down, x[1]<<(64-down) | x[0]>>down
}

// sqrt128 returns floor(√(hi·2^64 + lo)) for hi ≥ 2^62. The float only guesses; integers decide.
func sqrt128(hi, lo uint64) uint64 {
	guess := float64(math.Sqrt(float64(hi)) * (1 << 32))
	r := uint64(1<<64 - 1)
	if guess < 1<<64 {
		r = uint64(guess)
	}
	if r > hi { // Newton's step; the quotient then fits a word
		q, _ := bits.Div64(hi, lo, r)
		r = r/2 + q/2 + r&q&1
	}
	for {
		h, l := bits.Mul64(r, r)
		if h < hi || h == hi && l <= lo {
			break
		}
		r--
	}
	for r < 1<<64-1 {
		h, l := bits.Mul64(r+1, r+1)
		if h > hi || h == hi && l > lo {
			break
		}
		r++
	}
	return r
}
