package blt

import (
	"fmt"

	"oriel/mechanisms/dp"
	"oriel/mechanisms/rational"
)

// VarianceAt returns the variance of the release of a step, counted from 1, in units of s², rounded up: Σ_{j<step}
// b_j².
func (f Filter) VarianceAt(step uint64) float64 {
	if step == 0 {
		panic("BUG: blt: variance before the first step")
	}
	sum := rational.Whole(1)
	if step > 1 {
		sum = sum.Add(f.sum().Energy(step - 1))
	}
	return dp.RoundUp(sum.Hi)
}

// sum returns b_1, b_2, … as a sum of geometric terms.
func (f Filter) sum() (s rational.Sum) {
	for k := range f.Count {
		s.Add(rational.Dyadic(int64(f.Poles[k]), -rational.Bits), rational.Dyadic(int64(f.Residues[k]), -rational.Bits))
	}
	return s
}

// VarianceProfile computes VarianceAt quickly, to a relative precision of a millionth.
type VarianceProfile struct{ energies *rational.Energies }

// NewSpread returns the variance profile of a filter.
func NewSpread(f Filter) (*VarianceProfile, error) {
	energies, err := rational.NewEnergies(f.Poles[:f.Count], f.sum().Weights)
	if err != nil {
		return nil, fmt.Errorf("blt: %w", err)
	}
	return &VarianceProfile{energies}, nil
}

// At returns the variance of the release of a step, counted from 1, in units of s².
func (s *VarianceProfile) At(step uint64) float64 { return 1 + s.energies.At(step-1) }
