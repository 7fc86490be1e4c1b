package definition

import (
	"math"

	"oriel/mechanisms"
	"oriel/mechanisms/lattice"
	"oriel/mechanisms/noise"
)

// Component is a part of a contribution with its own noise: the coordinates From … To−1, with noise of Scale in
// integers.
type Component struct {
	From, To int
	Grid     lattice.Grid
	Scale    noise.Scale
}

// Components returns the components of the configuration under a plan.
func Components(c mechanisms.Config, p mechanisms.Calibration) []Component {
	var parts []Component
	at := 0
	for i, part := range c.Contribution.Components {
		of := p.Component(i)
		parts = append(parts, Component{From: at, To: at + part.Size, Grid: of.Grid, Scale: of.Scale})
		at += part.Size
	}
	return parts
}

// Integers returns the size of one integer at each coordinate in loss units: √k·q.
func Integers(c mechanisms.Config, p mechanisms.Calibration) []float64 {
	out := make([]float64, 0, c.Dimension())
	for i, part := range Components(c, p) {
		scales := c.Contribution.Components[i].Scales
		for j := range part.To - part.From {
			unit := part.Grid.Unit()
			if scales != nil {
				unit *= math.Sqrt(float64(scales[j]))
			}
			out = append(out, unit)
		}
	}
	return out
}

// Scales returns the noise scale of a node or a step at each coordinate, in loss units: √k·q·s. Divided by it, the
// noise of all components has the same law.
func Scales(c mechanisms.Config, p mechanisms.Calibration) []float64 {
	out := Integers(c, p)
	for _, part := range Components(c, p) {
		for i := part.From; i < part.To; i++ {
			out[i] *= part.Scale.Float64()
		}
	}
	return out
}
