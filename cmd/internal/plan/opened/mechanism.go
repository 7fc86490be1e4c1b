package opened

import (
	"fmt"
	"math"
	"math/bits"
	"slices"

	"oriel/mechanisms"
	"oriel/mechanisms/blt"
	"oriel/mechanisms/protection"
)

// Mechanism is a mechanism that is opened for one configuration.
type Mechanism struct {
	Config      mechanisms.Config
	Calibration mechanisms.Calibration
	Opened      *mechanisms.Mechanism
	Stream      *mechanisms.Stream
	Guarantee   protection.Guarantee
	Facts       mechanisms.Facts
	response    *blt.Response // response of blt; otherwise nil
}

// New opens a mechanism as `oriel run` would.
func New(c mechanisms.Config) (*Mechanism, error) {
	p, err := mechanisms.Calibrate(c)
	if err != nil {
		return nil, err
	}
	opened, err := mechanisms.NewMechanism(c, p)
	if err != nil {
		return nil, err
	}
	stream := opened.Open([32]byte{})
	m := &Mechanism{
		Config: c, Calibration: p, Opened: opened, Stream: stream, Guarantee: stream.Guarantee(), Facts: FactsOf(c.Name),
	}
	if p.Filter.Count > 0 {
		if m.response, err = blt.NewResponse(p.Filter); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// PerStep reports whether each step releases its own sum, and no prefix sum.
func (m *Mechanism) PerStep() bool { return m.Facts.EachStep() }

// Poles returns the number of poles of blt; other mechanisms have none.
func (m *Mechanism) Poles() int { return int(m.Calibration.Filter.Count + m.Calibration.Decay.Count) }

// BothSigns reports whether the filter has residues of both signs. The response then rises after falling
// (mechanisms/blt, PROOF.md, Lemma 1), so that the account of a user states a larger loss than the user has.
func (m *Mechanism) BothSigns() bool {
	return slices.ContainsFunc(m.Calibration.Filter.Residues[:m.Calibration.Filter.Count],
		func(r int32) bool { return r < 0 })
}

// FactsOf returns the facts of a mechanism, which must exist.
func FactsOf(name string) mechanisms.Facts {
	facts, known := mechanisms.FactsOf(name)
	if !known {
		panic(fmt.Sprintf("BUG: plan: mechanism %q", name))
	}
	return facts
}

// Sensitivity returns Δ in loss units, exactly.
func (m *Mechanism) Sensitivity() float64 { return m.Calibration.Sensitivity(m.Config) }

// Lattice returns Δ in lattice units.
func (m *Mechanism) Lattice() int64 { return int64(m.Sensitivity() / m.Calibration.Grid.Unit()) }

// Scale returns σ or θ of a noise vector in loss units; with several components, of the first one.
func (m *Mechanism) Scale() float64 {
	if m.Config.Contribution.Names > 0 {
		return m.Calibration.Scale.Float64() // of counts
	}
	return m.Calibration.Scale.Float64() * m.Calibration.Grid.Unit()
}

// Times multiplies two numbers. It saturates at the largest number of steps that a stream can have.
func Times(a, b uint64) uint64 {
	high, low := bits.Mul64(a, b)
	if high > 0 {
		return math.MaxUint64
	}
	return low
}

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

// Several reports whether one component has other figures than the whole contribution.
func (m *Mechanism) Several() bool {
	return len(m.Config.Contribution.Components) > 1 || m.Config.Contribution.Components[0].Scales != nil
}

// Components returns a row for each component.
func (m *Mechanism) Components() []Component {
	average, most := m.vectors()
	var rows []Component
	for i, part := range m.Config.Contribution.Components {
		of := m.Calibration.Component(i)
		alone, calibration := m.Config, m.Calibration
		alone.Contribution.Components, calibration.Grid = m.Config.Contribution.Components[i:i+1], of.Grid
		scale := of.Scale.Float64() * of.Grid.Unit()
		one, scales := scale*math.Sqrt(vectorVariance(m.Facts, part.Size)), float64(part.Size)
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
