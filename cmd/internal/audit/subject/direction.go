package subject

import (
	"math"
	"math/rand/v2"
	"slices"

	"oriel/mechanisms"
	"oriel/mechanisms/contribution"
	"oriel/mechanisms/lattice"
	"oriel/operators"
)

// Dense returns a vector along which a canary moves the sums. It has norm 1 in each component and lies in the subspace
// of contributions. Its entries are random or, for noise whose worst case is in the ℓ1 norm, of equal size, half of
// them negative at random. If contributions exclude constant vectors, dense draws again after a constant vector.
func (a *Subject) Dense(rng *rand.Rand) []float64 {
	facts, _ := mechanisms.FactsOf(a.Mechanism.Name)
	for tries := 0; ; tries++ {
		all := a.units(func(_ int, u []float64) {
			for i := range u {
				u[i] = rng.NormFloat64()
				if facts.Law == mechanisms.Laplace {
					u[i] = float64(1 - 2*(i%2))
				}
			}
			rng.Shuffle(len(u), func(i, j int) { u[i], u[j] = u[j], u[i] })
		})
		if tries == 100 || !slices.ContainsFunc(all, math.IsNaN) {
			return all
		}
	}
}

// Axis returns a unit vector along one number of the audited components; in each other component it is along the
// component's first number. It lies in the subspace of contributions.
func (a *Subject) Axis(number int) []float64 {
	return a.units(func(component int, u []float64) {
		from, _ := a.Bounds(component)
		start, _ := a.Bounds(a.First)
		if at := number - (from - start); component >= a.First && at >= 0 && at < len(u) {
			u[at] = 1
		} else {
			u[0] = 1
		}
	})
}

// Numbers returns the number of numbers that the audited components take.
func (a *Subject) Numbers() int { return a.Mechanism.Contribution.Entries() }

// units fills a vector component by component, and scales each to norm 1.
func (a *Subject) units(fill func(component int, u []float64)) []float64 {
	all := make([]float64, a.WholeMechanism.Contribution.Entries())
	vector := func(i int) []float64 { // the vector of component i without its public numbers
		from, to := a.Bounds(i)
		if ball, centred := a.WholeMechanism.Contribution.Components[i].Quantiser.(contribution.Ball); centred {
			to = from + ball.Size
		}
		return all[from:to]
	}
	for i := range a.WholeMechanism.Contribution.Components {
		fill(i, vector(i))
	}
	reference, err := operators.ReferenceModelOf(a.Operator, a.Params)
	if err != nil {
		panic("BUG: auditor: the operator refuses its own params: " + err.Error())
	}
	reference.Tangent(all)
	for i := range a.WholeMechanism.Contribution.Components {
		u := vector(i)
		norm := lattice.Norm(u)
		for j := range u {
			u[j] /= norm
		}
	}
	return all
}

// Move says how far an exchange of one event moves a component's sum, and to which sensitivity the noise of the
// component is calibrated. Both are in scaled coordinates and loss units.
type Move struct {
	Name        string  `json:"name"`
	Distance    float64 `json:"distance"`
	Sensitivity float64 `json:"sensitivity"`
}

// Distance returns the distance of two contributions in a component, in scaled coordinates and loss units.
func (a *Subject) Distance(i int, x, y []float64) float64 {
	of, squares := a.Components[i], 0.0
	for j := of.From; j < of.To; j++ {
		d := (x[j] - y[j]) / a.Integers[j]
		squares += d * d
	}
	return math.Sqrt(squares) * of.Grid.Unit()
}

// Move returns the Move with this distance and the component's sensitivity.
func (a *Subject) Move(i int, distance float64) Move {
	c, p := a.Mechanism, a.Calibration
	c.Contribution.Components, p.Grid = c.Contribution.Components[i:i+1], a.Components[i].Grid
	return Move{Name: c.Contribution.Components[0].Name, Distance: distance, Sensitivity: p.Sensitivity(c)}
}
