package mechanisms

import (
	"fmt"
	"math"
	"slices"

	"oriel/mechanisms/dp"
	"oriel/mechanisms/lattice"
	"oriel/mechanisms/noise"
)

// calibratedComponent is a component under a configuration, with all that its noise and its loss take.
type calibratedComponent struct {
	instance uint16
	n        int
	grid     lattice.Grid
	square   lattice.Int128 // Δ², units²
	stretch  float64        // √max k_i
	budget   float64        // µ or ε
	scale    noise.Scale
}

// shareMargin is what components leave of the budget, relative: so much more than the rounding of a share and of the
// sum of losses that what is recomputed from the integers of all components is not above what they were calibrated to.
const shareMargin = 0x1p-48

// components returns the parts of a valid configuration on their grids, whose Λ have so many bits, without scales and
// budgets. It refuses a lattice on which a batch has no bound in 64 bits.
func (c Config) components(size int) ([]calibratedComponent, error) {
	out := make([]calibratedComponent, len(c.Contribution.Components))
	for i, p := range c.Contribution.Components {
		grid, err := lattice.NewFineGrid(p.Clip, size)
		if err != nil {
			return nil, err
		}
		if most := maxPartial / uint64(grid.Lambda); c.Batch > most {
			return nil, fmt.Errorf("mechanisms: batch %d: above %d, the most on a lattice as fine as a stream of %s and dimension %d need",
				c.Batch, most, c.Scope.Words().Length, p.Size)
		}
		out[i] = calibratedComponent{instance: uint16(i), n: p.Size, grid: grid, square: c.square(p, grid), stretch: 1}
		if p.Scales != nil {
			out[i].stretch = math.Sqrt(float64(slices.Max(p.Scales)))
		}
	}
	return out, nil
}

// share gives each piece its budget: all of it to one that is alone.
func (c Config) share(pieces []calibratedComponent, law Law) {
	budget := c.Budget.Epsilon
	if law == Gaussian {
		budget = dp.GaussianMu(c.Budget)
		if c.MaxMu > 0 {
			budget = min(budget, c.MaxMu)
		}
	}
	shares := 0.0 // exact: below 2⁴²
	for _, p := range c.Contribution.Components {
		shares += float64(p.Share)
	}
	for i, p := range c.Contribution.Components {
		pieces[i].budget = budget
		if len(pieces) > 1 {
			pieces[i].budget = float64(float64(budget*componentBudget(law, float64(p.Share)/shares)) * (1 - shareMargin))
		}
	}
}

// componentBudget returns how much of µ or ε a share of the budget is: µ² and ε are what is shared.
func componentBudget(law Law, share float64) float64 {
	if law == Gaussian {
		return math.Sqrt(share)
	}
	return share
}

// square returns Δ² in units². Under replace an event is exchanged for any other or for one that gives no contribution,
// whose contribution is zero; at user level under both adjacencies.
//
// Of the default contribution Δ is 2Λ, or Λ against the null event: contributions have integer entries with Σnᵢ² ≤ Λ²,
// checked last. The distance of two batches is that of their one differing contribution.
func (c Config) square(p Component, grid lattice.Grid) lattice.Int128 {
	replace, zeroOut := p.distances(grid)
	if c.Unit.AgainstNull() || replace.Less(zeroOut) {
		return zeroOut
	}
	return replace
}

// Sensitivity returns Δ of component 0 in loss units, exactly when it is the default contribution: how far the exchange
// of one event moves the contribution sum of its step, in the ℓ2 norm of scaled coordinates.
func (p Calibration) Sensitivity(c Config) float64 {
	square := c.square(c.Contribution.Components[0], p.Grid)
	return float64(math.Sqrt(lattice.Grid{}.Float64(square)) * p.Grid.Unit())
}
