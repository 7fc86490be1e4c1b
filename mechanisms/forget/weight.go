package forget

import "math/bits"

// Weight returns N_t = Σ_{s≤t} γ^{t−s} = (1 − γ^t)/(1 − γ), what a stream remembers of t steps of 1: up to the memory.
// It is the same number on every CPU.
func Weight(memory, steps uint64) float64 {
	return float64(one-left(memory, steps)) / float64(one/(1<<30)*(1<<30-uint64(Decay(memory))))
}

// Left returns γ^t, what t steps leave of a sum. It is the same number on every CPU.
func Left(memory, steps uint64) float64 { return float64(left(memory, steps)) / one }

// one is 1 with 62 fraction bits.
const one = 1 << 62

// left is γ^t with 62 fraction bits: a product of integers, by squaring, which errs by t·2⁻⁶² at most and only
// downwards.
func left(memory, steps uint64) uint64 {
	power := uint64(one)
	base := uint64(Decay(memory)) << (62 - 30)
	for ; steps > 0 && base > 0; steps >>= 1 {
		if steps&1 == 1 {
			power = times(power, base)
		}
		base = times(base, base)
	}
	if steps > 0 {
		return 0
	}
	return power
}

// times returns ⌊x·y/2⁶²⌋.
func times(x, y uint64) uint64 {
	hi, lo := bits.Mul64(x, y)
	return hi<<2 | lo>>62
}
