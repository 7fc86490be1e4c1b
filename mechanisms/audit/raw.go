package audit

import (
	"math"
	"slices"

	"oriel/mechanisms"
	"oriel/mechanisms/audit/definition"
	"oriel/mechanisms/contribution"
	"oriel/mechanisms/lattice"
)

// RawContributions returns the configuration and the plan with every quantiser in the place of which numbers are
// contributions, as they come: chain, noise and claim are the same. So a check can add any contribution that it likes,
// where it is not of the quantiser.
func RawContributions(c mechanisms.Config, p mechanisms.Calibration) (mechanisms.Config, mechanisms.Calibration) {
	c.Contribution.Components, p.Components = slices.Clone(c.Contribution.Components), slices.Clone(p.Components)
	integers := definition.Integers(c, p)
	for k, of := range definition.Components(c, p) {
		if part := &c.Contribution.Components[k]; part.Quantiser != nil {
			part.Quantiser = rawQuantiser{of: part.Quantiser, integers: integers[of.From:of.To]}
			p.Components[k].Entries = part.Size
		}
	}
	return c, p
}

// rawQuantiser takes contributions in loss units.
type rawQuantiser struct {
	of       contribution.Quantiser
	integers []float64
}

// Entries are as many as coordinates.
func (b rawQuantiser) Entries() int { return len(b.integers) }

// Distances are those of the quantiser.
func (b rawQuantiser) Distances(g lattice.Grid) (replace, zeroOut lattice.Int128) {
	return b.of.Distances(g)
}

// Quantise rounds.
func (b rawQuantiser) Quantise(_ lattice.Grid, dst []int64, v []float64) {
	for i, x := range v {
		dst[i] = int64(math.RoundToEven(x / b.integers[i]))
	}
}
