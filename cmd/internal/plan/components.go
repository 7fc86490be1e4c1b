package plan

import (
	"fmt"
	"math"

	"oriel/cmd/internal/digits"
	"oriel/mechanisms"
)

// Component holds the figures of a mechanism for one component of a contribution.
type Component struct {
	Name            string  `json:"name"`
	Size            int     `json:"coordinates"`
	Sensitivity     float64 `json:"sensitivity"` // Δ in scaled coordinates, loss units
	NoiseScale      float64 `json:"noise_scale"` // noise scale of a coordinate whose scale is 1
	RMSCoordinate   float64 `json:"rms_coordinate"`
	WorstCoordinate float64 `json:"worst_rms_coordinate"`
	RMSVector       float64 `json:"rms_vector"`
	WorstVector     float64 `json:"worst_rms_vector"`
}

// several reports whether the figures of one component differ from those of the whole contribution.
func (m *machine) several() bool {
	return len(m.config.Contribution.Components) > 1 || m.config.Contribution.Components[0].Scales != nil
}

// components returns a row for each component.
func (m *machine) components() []Component {
	average, most := m.vectors()
	var rows []Component
	for i, part := range m.config.Contribution.Components {
		of := m.calibration.Component(i)
		alone, calibration := m.config, m.calibration
		alone.Contribution.Components, calibration.Grid = m.config.Contribution.Components[i:i+1], of.Grid
		scale := of.Scale.Float64() * of.Grid.Unit()
		one, scales := scale*math.Sqrt(vectorVariance(m.facts, part.Size)), float64(part.Size)
		if part.Scales != nil {
			scales = 0
			for _, k := range part.Scales {
				scales += float64(k)
			}
		}
		row := Component{
			Name: part.Name, Size: part.Size, Sensitivity: calibration.Sensitivity(alone), NoiseScale: scale,
			RMSVector: one * math.Sqrt(average*scales), WorstVector: one * math.Sqrt(most*scales),
		}
		root := math.Sqrt(float64(part.Size))
		row.RMSCoordinate, row.WorstCoordinate = row.RMSVector/root, row.WorstVector/root
		rows = append(rows, row)
	}
	return rows
}

// decides returns the component from which decisions are made. If there are several components, it is the first.
func (m *machine) decides() Component {
	if m.several() {
		return m.components()[0]
	}
	mean, worst := m.rms()
	root := math.Sqrt(float64(m.config.Dimension()))
	return Component{
		Size: m.config.Dimension(), RMSCoordinate: mean, WorstCoordinate: worst,
		RMSVector: mean * root, WorstVector: worst * root,
	}
}

// together returns the figures of all components as one: each error is the root mean square over the coordinates of all
// components.
func together(parts []Component) (all Component) {
	for _, p := range parts {
		all.Size += p.Size
		all.RMSVector, all.WorstVector = math.Hypot(all.RMSVector, p.RMSVector), math.Hypot(all.WorstVector, p.WorstVector)
	}
	root := math.Sqrt(float64(all.Size))
	all.RMSCoordinate, all.WorstCoordinate = all.RMSVector/root, all.WorstVector/root
	return all
}

// overLeast returns the variance of a component's release divided by (Δ/µ)², where µ is the component's share of the
// budget's µ. The quotient is equal for all components.
func (m *machine) overLeast() float64 {
	part, shares := m.config.Contribution.Components[0], 0.0
	for _, p := range m.config.Contribution.Components {
		shares += float64(p.Share)
	}
	mu := m.guarantee.Mu
	if len(m.config.Contribution.Components) > 1 {
		mu *= math.Sqrt(float64(part.Share) / shares)
	}
	average, _ := m.vectors()
	one := m.scale() * math.Sqrt(vectorVariance(m.facts, part.Size))
	least := m.sensitivity() / mu
	return one * one * average / (least * least)
}

// componentRows returns the rows of the configured mechanism's components.
func (r *Report) componentRows() *grid {
	g := &grid{}
	g.add("component", "coordinates", "Δ", "noise", "coordinate", "worst", "vector", "worst")
	for i, p := range r.Mechanisms[0].Components {
		name := p.Name
		if name == "" {
			name = fmt.Sprint(i)
		}
		g.add(name, fmt.Sprint(p.Size), digits.Four(p.Sensitivity), digits.Four(p.NoiseScale),
			digits.Four(p.RMSCoordinate),
			digits.Four(p.WorstCoordinate), digits.Four(p.RMSVector), digits.Four(p.WorstVector))
	}
	return g
}

// vectorVariance returns the variance of one coordinate of a noise vector, divided by the square of its scale. It is 1
// for the Gaussian, 2 for Laplace and π²/6 for Gumbel. It is n + 1 for the density e^(−‖x‖/θ), whose norm is Gamma of
// shape n, with E‖x‖² = n(n+1)θ².
func vectorVariance(f mechanisms.Facts, n int) float64 {
	switch f.Law {
	case mechanisms.Gamma:
		return float64(n + 1)
	case mechanisms.Laplace:
		return 2
	case mechanisms.Gumbel:
		return math.Pi * math.Pi / 6
	case mechanisms.Gaussian:
	}
	return 1
}
