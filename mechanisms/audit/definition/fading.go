package definition

import (
	"oriel/mechanisms"
	"oriel/mechanisms/decay"
)

// Decaying is e of package decay in floating point, under sums that decay: Ŝ_t = γŜ_{t−1} + v_t + Σ_{j≥0} e_j·n_{t−j},
// where draws up to the last reset before step t are not there any more. Resets follow steps that Period divides.
type Decaying struct {
	Filter
	Decay  float64 // γ
	Period uint64  // P
}

// NewFading returns the filter of these dyadics, whose residues count against the draws.
func NewFading(f decay.Filter) Decaying {
	out := Decaying{Decay: float64(decay.Decay(f.Memory)) / (1 << 30), Period: decay.Period(f.Memory)}
	for k := range f.Count {
		out.Poles = append(out.Poles, float64(f.Poles[k])/(1<<30))
		out.Residues = append(out.Residues, -float64(f.Residues[k])/(1<<30))
	}
	return out
}

// Kept returns how much of the release before a release has: all of it in prefix sums, γ of it in sums that decay,
// nothing in single steps.
func Kept(p mechanisms.Calibration) float64 {
	facts, _ := mechanisms.FactsOf(p.Name)
	switch {
	case facts.PerStep:
		return 0
	case p.Decays():
		return NewFading(p.Decay).Decay
	}
	return 1
}
