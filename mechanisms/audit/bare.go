package audit

import (
	"math"
	"slices"

	"oriel/mechanisms"
	"oriel/mechanisms/audit/definition"
	"oriel/mechanisms/lattice"
)

// Bare returns the configuration and the plan with every quantiser in the place of which numbers are leaves, as they
// come: chain, noise and claim are the same. So a check can add any leaf that it likes, where it is not of the
// quantiser.
func Bare(c mechanisms.Config, p mechanisms.Plan) (mechanisms.Config, mechanisms.Plan) {
	c.Leaf.Parts, p.Parts = slices.Clone(c.Leaf.Parts), slices.Clone(p.Parts)
	integers := definition.Integers(c, p)
	for k, of := range definition.Parts(c, p) {
		if part := &c.Leaf.Parts[k]; part.Quantiser != nil {
			part.Quantiser = bare{of: part.Quantiser, integers: integers[of.From:of.To]}
			p.Parts[k].Entries = part.Size
		}
	}
	return c, p
}

// bare takes leaves in loss units.
type bare struct {
	of       mechanisms.Quantiser
	integers []float64
}

// Entries are as many as coordinates.
func (b bare) Entries() int { return len(b.integers) }

// Distances are those of the quantiser.
func (b bare) Distances(g lattice.Grid) (replace, zeroOut lattice.Int128) { return b.of.Distances(g) }

// Quantise rounds.
func (b bare) Quantise(_ lattice.Grid, dst []int64, v []float64) {
	for i, x := range v {
		dst[i] = int64(math.RoundToEven(x / b.integers[i]))
	}
}
