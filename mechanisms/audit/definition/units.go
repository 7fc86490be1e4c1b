package definition

import (
	"math"

	"oriel/mechanisms"
	"oriel/mechanisms/lattice"
	"oriel/mechanisms/noise"
)

// Component is a range of coordinates with their own noise: the coordinates From … To−1, with noise of Scale in lattice
// units.
type Component struct {
	From, To int
	Grid     lattice.Grid
	Scale    noise.Scale
	Steps    []int64 // of coordinates, for discrete noise
}

// Components returns the components of the configuration under a calibration.
func Components(c mechanisms.Config, p mechanisms.Calibration) []Component {
	var components []Component
	at := 0
	for i, component := range c.Contribution.Components {
		of := p.Component(i)
		components = append(components, Component{
			From: at, To: at + component.Size, Grid: of.Grid, Scale: of.Scale, Steps: component.Steps(of.Grid),
		})
		at += component.Size
	}
	return components
}

// Sampler returns the sampler of a component's noise under a mechanism, or nil if the mechanism releases no sums.
func (x Component) Sampler(mechanism string) (noise.Sampler, error) {
	facts, _ := mechanisms.FactsOf(mechanism)
	switch facts.Law {
	case mechanisms.Gaussian:
		return noise.NewGaussian(x.Scale)
	case mechanisms.Gamma:
		return noise.NewGamma(x.Scale, x.To-x.From)
	case mechanisms.Laplace:
		if facts.Discrete() {
			return noise.NewDiscreteLaplace(x.Scale, x.Steps)
		}
		return noise.NewLaplace(x.Scale)
	case mechanisms.Gumbel:
	}
	return nil, nil
}

// Integers returns the size of one lattice unit at each coordinate, in loss units: √k·q.
func Integers(c mechanisms.Config, p mechanisms.Calibration) []float64 {
	out := make([]float64, 0, c.Dimension())
	for i, component := range Components(c, p) {
		scales := c.Contribution.Components[i].Scales
		for j := range component.To - component.From {
			unit := component.Grid.Unit()
			if scales != nil {
				unit *= math.Sqrt(float64(scales[j]))
			}
			out = append(out, unit)
		}
	}
	return out
}

// Scales returns the noise scale of a node or a step at each coordinate, in loss units: √k·q·s. Noise divided by its
// scale has the same law in all components.
func Scales(c mechanisms.Config, p mechanisms.Calibration) []float64 {
	out := Integers(c, p)
	for _, component := range Components(c, p) {
		for i := component.From; i < component.To; i++ {
			out[i] *= component.Scale.Float64()
		}
	}
	return out
}
