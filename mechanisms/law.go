package mechanisms

import "fmt"

// NoiseLaw is the law of the noise in the growth of a component's sums at each step (with a memory, in its increments).
// In units of a draw's standard deviation, with n_t independent and nearly N(0, 1),
//
//	noise_t = n_t + Σ_k Residues[k]·c_k,    then c_k ← Poles[k]·c_k + n_t,
//
// where c_k is zero before the first step and, if Period is not 0, after each Period steps.
type NoiseLaw struct {
	Poles, Residues []float64
	Period          uint64  // steps
	Draw            float64 // standard deviation of a draw in a coordinate of scale 1, loss units
	Rounding        float64 // bound on the effect of rounding carry, draws and contributions on a coordinate in a step
}

// NoiseLaw returns the noise law of a component whose noise comes from a filter.
func (s *frame) NoiseLaw(part int) (NoiseLaw, error) {
	facts, _ := FactsOf(s.plan.Name)
	p := s.plan.Component(part)
	_, decays := s.Memory()
	if facts.Law != Gaussian || !facts.Filter && !decays {
		return NoiseLaw{}, fmt.Errorf("mechanisms: %s: its noise comes from no filter", s.plan.Name)
	}
	// The error is at most 3 units. The carry is within η ≤ ½ + 2⁻⁸ of its filter, so its difference from the step
	// before is off by at most 2η. A draw is rounded by at most ½, of which |b_0| + Σ|b_j − b_{j−1}| ≤ 2 remain. A
	// contribution is rounded by ½.
	law := NoiseLaw{
		Draw:     float64(p.Scale.Float64() * p.Grid.Unit()),
		Rounding: float64((3 + float64(s.config.Batch)/2) * p.Grid.Unit()),
	}
	const unit = 1 << 30
	if decays {
		f := s.plan.Decay
		for k := range f.Count {
			law.Poles = append(law.Poles, float64(f.Poles[k])/unit)
			law.Residues = append(law.Residues, -float64(f.Residues[k])/unit)
		}
		law.Period = f.Period()
		return law, nil
	}
	// b_j = Σ R_k·q_k^{j−1}, so b_1 − b_0 = ΣR_k − 1 and b_j − b_{j−1} = −Σ R_k(1 − q_k)/q_k·q_k^{j−1} for j ≥ 2. A
	// pole at 0 supplies the difference at j = 1.
	law.Poles, law.Residues = []float64{0}, []float64{-1}
	for k := range s.plan.Filter.Count {
		q, r := float64(s.plan.Filter.Poles[k])/unit, float64(s.plan.Filter.Residues[k])/unit
		law.Poles, law.Residues = append(law.Poles, q), append(law.Residues, -float64(r*(1-q))/q)
		law.Residues[0] += r / q
	}
	return law, nil
}
