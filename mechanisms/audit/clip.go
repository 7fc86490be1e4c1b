package audit

import (
	"math"
	"slices"

	"oriel/mechanisms"
	"oriel/mechanisms/audit/definition"
	"oriel/mechanisms/audit/residual"
	"oriel/mechanisms/contribution"
	"oriel/mechanisms/lattice"
	"oriel/mechanisms/noise"
)

// Bounds on the coordinates, numbers and records that CheckClip plays.
const (
	clippedPlaces  = 1 << 12
	clippedNumbers = 1 << 26
	clippedRecords = 1 << 22
)

// huge is the norm of CheckClip's gradients, in clips.
const huge = 1 << 40

// CheckClip sends gradients far beyond the clip, one coordinate a step. After subtracting a contribution of norm L, the
// release must contain only noise: a standard normal for each coordinate, and nothing near 2⁴⁰ clips. Coordinates of
// components with a quantiser have no clip and stay zero, because their numbers must already be contributions (see
// RawContributions). If all coordinates have a quantiser, CheckClip tests nothing.
func CheckClip(c mechanisms.Config, p mechanisms.Calibration, stream Stream) (residual.Test, error) {
	n, clips, places := c.Dimension(), make([]float64, c.Dimension()), []int(nil)
	for k, component := range definition.Components(c, p) {
		if c.Contribution.Components[k].Quantiser != nil {
			continue
		}
		for i := component.From; i < component.To; i++ {
			clips[i] = component.Grid.Clip()
			places = append(places, i)
			if scales := c.Contribution.Components[k].Scales; scales != nil {
				clips[i] *= math.Sqrt(float64(scales[i-component.From]))
			}
		}
	}
	if len(places) == 0 {
		return residual.Test{Name: "clip", Looked: "no component has one", P: 1}, nil
	}
	places = spread(places, n, perStep(c))
	count := len(places)
	steps := int(min(residual.MaxSteps, uint64(count), c.Scope.End()))
	law, err := residual.New(c, p, steps)
	if err != nil {
		return residual.Test{}, err
	}
	start, rebuild := stream.AppendState(nil), law.Rebuilder()
	gradient, clipped, z := make([]float64, n), make([]float64, n), make([]float64, n)
	var along []float64
	id := noise.Identity{Partition: 2}
	for k := range count {
		if k%law.PerStep() == 0 { // with pure noise only a run's first PerStep releases are normal
			if err := stream.Restore(start); err != nil {
				return residual.Test{}, err
			}
			rebuild.Start(uint64(k))
		}
		i, sign := places[k], float64(1-2*(k%2))
		gradient[i], clipped[i] = sign*huge*clips[i], sign*clips[i]
		addLast(stream, perStep(c), &id, gradient)
		rebuild.Next(z, sums(stream, c), clipped)
		along = append(along, sign*z[i])
		gradient[i], clipped[i] = 0, 0
	}
	return residual.Normals("clip", "gradients far beyond the clip, along each coordinate by itself", "gradient", along), nil
}

// spread returns as many of the places, evenly spaced, as CheckClip may play in dimension n.
func spread(places []int, n int, batch uint64) []int {
	count := max(1, min(len(places), clippedPlaces, clippedNumbers/n, int(clippedRecords/batch)))
	out := make([]int, count)
	for k := range out {
		out[k] = places[k*len(places)/count]
	}
	return out
}

// RawContributions returns the configuration and the calibration with every quantiser replaced by one that takes
// numbers as contributions unchanged. Chain, noise and claim stay the same. So a check can add any contribution, even
// one that the quantiser would never produce.
func RawContributions(c mechanisms.Config, p mechanisms.Calibration) (mechanisms.Config, mechanisms.Calibration) {
	c.Contribution.Components, p.Components = slices.Clone(c.Contribution.Components), slices.Clone(p.Components)
	integers := definition.Integers(c, p)
	for k, of := range definition.Components(c, p) {
		if component := &c.Contribution.Components[k]; component.Quantiser != nil {
			component.Quantiser = rawQuantiser{of: component.Quantiser, integers: integers[of.From:of.To]}
			p.Components[k].Entries = component.Size
		}
	}
	return c, p
}

// rawQuantiser takes numbers in loss units as contributions unchanged.
type rawQuantiser struct {
	of       contribution.Quantiser
	integers []float64
}

// Entries returns the number of coordinates.
func (b rawQuantiser) Entries() int { return len(b.integers) }

// Distances returns the distances of the replaced quantiser.
func (b rawQuantiser) Distances(g lattice.Grid) (replace, zeroOut lattice.Int128) {
	return b.of.Distances(g)
}

// AbsoluteDistances returns the ℓ1 distances of the replaced quantiser, or those that follow from ℓ2.
func (b rawQuantiser) AbsoluteDistances(g lattice.Grid) (replace, zeroOut uint64) {
	return contribution.Component{Size: len(b.integers), Quantiser: b.of}.AbsoluteDistances(g)
}

// Steps returns the finest steps, so that the least change of a contribution is one lattice unit.
func (rawQuantiser) Steps(lattice.Grid) []int64 { return []int64{1} }

// Quantise rounds to integers.
func (b rawQuantiser) Quantise(_ lattice.Grid, dst []int64, v []float64) {
	for i, x := range v {
		dst[i] = int64(math.RoundToEven(x / b.integers[i]))
	}
}
