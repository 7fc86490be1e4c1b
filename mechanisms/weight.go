package mechanisms

import (
	"oriel/mechanisms/decay"
	"oriel/mechanisms/protection"
)

// Weight returns N_t = Σ_{s≤t} γ^{t−s}, what sums hold of t equal steps: t where nothing decays.
func Weight(s protection.Scope, t uint64) float64 {
	if memory, decays := s.Memory(); decays {
		return decay.Weight(memory, t)
	}
	return float64(t)
}
