package decay

import (
	"fmt"
	"slices"

	"oriel/mechanisms/dp"
	"oriel/mechanisms/rational"
)

// ReadingVariance returns the variance, in units of s², of the reading after a step, counted from 1, with the given
// memory. It is VarianceAt with γ replaced by the memory's γ', rounded up. It refuses a memory whose γ' is a pole.
func (f Filter) ReadingVariance(memory, step uint64) (float64, error) {
	if step == 0 {
		panic("BUG: decay: variance before the first step")
	}
	r, err := f.readBy(memory)
	if err != nil {
		return 0, err
	}
	return dp.RoundUp(r.variance(step).Hi), nil
}

// readBy returns the response of a filter whose increments are read with another memory.
func (f Filter) readBy(memory uint64) (*response, error) {
	if err := checkMemory(memory); err != nil {
		return nil, err
	}
	if slices.Contains(f.Poles[:f.Count], Decay(memory)) {
		return nil, fmt.Errorf("decay: memory %d decays at the rate of a pole of the filter: use a slightly different one", memory)
	}
	r := *f.valid()
	r.decay = rational.Dyadic(int64(Decay(memory)), -rational.Bits)
	r.b = noiseOf(f, r.decay)
	return &r, nil
}

// WindowVariance returns the variance of the sum of the last w ≥ 1 increments in the middle of a block, where the
// filter's start no longer matters, in units of s², rounded up. With E_j = Σ_{l≤j} e_l, and E_j = 0 for j < 0, it is
// Σ_{j≥0} (E_j − E_{j−w})². If the window is a complete block, the variance is smaller.
func (f Filter) WindowVariance(w uint64) float64 {
	if w == 0 {
		panic("BUG: decay: variance of an empty window")
	}
	f.valid()
	var within, behind rational.Sum
	start := rational.Whole(1)
	for k := range f.Count {
		q := rational.Dyadic(int64(f.Poles[k]), -rational.Bits)
		x := rational.Dyadic(int64(f.Residues[k]), -rational.Bits).Mul(rational.Whole(1).Sub(q).Inverse())
		start = start.Sub(x)
		within.Add(q, x) // E_j = start + Σ x_k·q_k^j
		behind.Add(q, x.Mul(q.Power(w).Sub(rational.Whole(1))))
	}
	within.Add(rational.Whole(1), start)
	return dp.RoundUp(within.Energy(w).Add(behind.Energy(all)).Hi)
}

// VarianceProfile computes ReadingVariance quickly, to a relative precision of a millionth, with some hundred
// multiplications.
type VarianceProfile struct {
	energies *rational.Energies
	decay    uint32
	period   uint64
}

// NewSpread returns the variance profile of a filter's increments read with a memory. It refuses a memory whose γ' is a
// pole, or so near a pole that sums cancel.
func NewSpread(f Filter, memory uint64) (*VarianceProfile, error) {
	r, err := f.readBy(memory)
	if err != nil {
		return nil, err
	}
	poles := append(slices.Clone(f.Poles[:f.Count]), Decay(memory))
	energies, err := rational.NewEnergies(poles, r.b.Weights)
	if err != nil {
		return nil, fmt.Errorf("decay: memory %d decays almost at the rate of a pole of the filter, use a slightly different one: %w", memory, err)
	}
	return &VarianceProfile{energies: energies, decay: Decay(memory), period: r.period}, nil
}

// At returns the variance of the reading of a step, counted from 1, in units of s².
func (s *VarianceProfile) At(step uint64) float64 {
	age, blocks := (step-1)%s.period+1, (step-1)/s.period
	sum := s.energies.At(age)
	if blocks == 0 {
		return sum
	}
	// γ'^{2a}·A_P·Σ_{i<k} γ'^{2Pi}: the geometric sum over all blocks that still matter at 62 bits.
	whole := rational.Power62(s.decay, 2*s.period)
	past, term := uint64(0), uint64(1)<<62
	kept := 0.0
	for ; past < blocks && term > 0; past++ {
		kept += float64(float64(term) * 0x1p-62)
		term = rational.Times62(term, whole)
	}
	left := float64(float64(rational.Power62(s.decay, 2*age)) * 0x1p-62)
	return sum + float64(float64(left*s.energies.At(s.period))*kept)
}
