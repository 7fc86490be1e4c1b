package definition

import (
	"oriel/mechanisms"
	"oriel/mechanisms/decay"
)

// Decaying is the filter e of package decay in floating point, for sums that decay: Ŝ_t = γŜ_{t−1} + v_t + Σ_{j≥0}
// e_j·n_{t−j}, where draws up to the last reset before step t are left out. A reset follows each step that Period
// divides.
type Decaying struct {
	Filter
	Decay  float64 // γ, factor by which sums decay in one step
	Period uint64  // P, steps between resets
}

// NewDecaying returns the filter with f's dyadic coefficients, whose residues are subtracted from the draws.
func NewDecaying(f decay.Filter) Decaying {
	out := Decaying{Decay: float64(decay.Decay(f.Memory)) / (1 << 30), Period: decay.Period(f.Memory)}
	for k := range f.Count {
		out.Poles = append(out.Poles, float64(f.Poles[k])/(1<<30))
		out.Residues = append(out.Residues, -float64(f.Residues[k])/(1<<30))
	}
	return out
}

// Kept returns the share of a release that remains in the next release: 1 for prefix sums, γ for decaying sums, 0 for
// per-step sums.
func Kept(p mechanisms.Calibration) float64 {
	facts, _ := mechanisms.FactsOf(p.Name)
	switch {
	case facts.Structure == mechanisms.PerStep:
		return 0
	case p.Decays():
		return NewDecaying(p.Decay).Decay
	}
	return 1
}
