package forget

import "math/bits"

// Weight returns N_t = Σ_{s≤t} γ^{t−s} = (1 − γ^t)/(1 − γ), what a stream remembers of t steps of 1: up to the memory.
// It is the same number on every CPU: γ^t is a product of integers with 62 fraction bits, by squaring, which errs by
// t·2⁻⁶² at most and only downwards.
func Weight(memory, steps uint64) float64 {
	const one = 1 << 62
	power, rest := uint64(one), uint64(one)
	base := uint64(Decay(memory)) << (62 - 30)
	for ; steps > 0 && base > 0; steps >>= 1 {
		if steps&1 == 1 {
			power = times(power, base)
		}
		base = times(base, base)
	}
	if steps > 0 {
		power = 0
	}
	return float64(rest-power) / float64(one/(1<<30)*(1<<30-uint64(Decay(memory))))
}

// times returns ⌊x·y/2⁶²⌋.
func times(x, y uint64) uint64 {
	hi, lo := bits.Mul64(x, y)
	return hi<<2 | lo>>62
}
