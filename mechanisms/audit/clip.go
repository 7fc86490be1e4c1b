package audit

import (
	"oriel/mechanisms"
	"oriel/mechanisms/audit/residual"
	"oriel/mechanisms/noise"
)

// What CheckClip plays is bounded: coordinates, numbers and records.
const (
	clippedPlaces  = 1 << 12
	clippedNumbers = 1 << 26
	clippedRecords = 1 << 22
)

// huge is how many times the clip a gradient is long.
const huge = 1 << 40

// CheckClip sends a gradient far beyond the clip along each coordinate alone, one a step. What the release holds beside
// a leaf at the clip is noise: a standard normal for each, and nothing like 2⁴⁰ clips.
func CheckClip(c mechanisms.Config, p mechanisms.Plan, stream Stream) (residual.Test, error) {
	n := c.Dimension
	count := max(1, min(n, clippedPlaces, clippedNumbers/n, int(clippedRecords/c.Batch)))
	steps := min(residual.MaxSteps, count)
	if c.Horizon > 0 {
		steps = int(min(uint64(steps), c.Horizon))
	}
	law, err := residual.New(c, p, steps)
	if err != nil {
		return residual.Test{}, err
	}
	start, rebuild := stream.AppendState(nil), law.Rebuilder()
	gradient, leaf, z := make([]float64, n), make([]float64, n), make([]float64, n)
	var along []float64
	id := noise.Identity{Partition: 2}
	for k := range count {
		if k%law.Single() == 0 { // later releases of pure noise are no normals
			if err := stream.Restore(start); err != nil {
				return residual.Test{}, err
			}
			rebuild.Start()
		}
		i, sign := k*n/count, float64(1-2*(k%2))
		gradient[i], leaf[i] = sign*huge*c.Clip, sign*p.Grid.Clip()
		for place := range c.Batch {
			id.Offset++
			if place == c.Batch-1 {
				stream.Add(id, gradient)
			} else {
				stream.Add(id, nil)
			}
		}
		rebuild.Next(z, stream.Sum(), leaf)
		along = append(along, sign*z[i])
		gradient[i], leaf[i] = 0, 0
	}
	return residual.Normals("clip", "gradients far beyond the clip, along each coordinate alone", "gradient", along), nil
}
