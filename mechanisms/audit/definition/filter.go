package definition

import "oriel/mechanisms/blt"

// Filter is the filter b of blt in floating point. Σ_{j≥1} b_j·n_{t−j} is ΣR_k·s_k with s_k ← q_k·s_k + n_t.
type Filter struct{ Poles, Residues []float64 }

// NewFilter returns the filter with f's dyadic coefficients.
func NewFilter(f blt.Filter) Filter {
	var out Filter
	for k := range f.Count {
		out.Poles = append(out.Poles, float64(f.Poles[k])/(1<<30))
		out.Residues = append(out.Residues, float64(f.Residues[k])/(1<<30))
	}
	return out
}

// Carry returns Σ_{j≥1} b_j·n_{t−j}.
func (f Filter) Carry(states []float64) float64 {
	carry := 0.0
	for k, s := range states {
		carry += f.Residues[k] * s
	}
	return carry
}

// Take updates the states with the draw n_t.
func (f Filter) Take(states []float64, n float64) {
	for k, q := range f.Poles {
		states[k] = q*states[k] + n
	}
}
