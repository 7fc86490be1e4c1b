package decay

import "oriel/mechanisms/rational"

// Weight returns N_t = Σ_{s≤t} γ^{t−s} = (1 − γ^t)/(1 − γ), what a stream remembers of t steps of 1: up to the memory.
// It is the same number on every CPU.
func Weight(memory, steps uint64) float64 {
	return float64(one-remaining(memory, steps)) / float64(one/(1<<30)*(1<<30-uint64(Decay(memory))))
}

// Left returns γ^t, what t steps leave of a sum. It is the same number on every CPU.
func Left(memory, steps uint64) float64 { return float64(remaining(memory, steps)) / one }

// one is 1 with 62 fraction bits.
const one = 1 << 62

// remaining is γ^t with 62 fraction bits, rounded down at each of its products: it errs by t·2⁻⁶² at most.
func remaining(memory, steps uint64) uint64 { return rational.Power62(Decay(memory), steps) }
