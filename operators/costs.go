package operators

import "math"

// Costed is an Operator whose events are vectors of costs, one cost for each coordinate of a decision.
type Costed interface {
	Operator
	Costs() *Costs // nil: events are not costs
}

// Costs describes how vectors of n costs are projected, before they are clipped, onto the directions in which decisions
// can move. If the set has an interior, these are all n directions.
type Costs struct {
	Coordinates int     // n, the number of coordinates
	Directions  int     // dimension of the space to which costs are projected
	Ones        float64 // norm of the projection of the vector (1, …, 1)
	Reason      string  // why costs are not projected although the set has no interior; empty otherwise
}

// Longest returns a bound on the norm of projected costs from a range with middle m and half-width h: |Pc| ≤ |m|·|P1| +
// h√n. The bound holds because the coordinates of c − m·1 are at most h in absolute value, and a projection does not
// lengthen a vector. It also uses |Pc| ≤ |c|.
func (c Costs) Longest(r Range) float64 {
	around := float64(r.Half() * math.Sqrt(float64(c.Coordinates)))
	return min(c.Before(r), float64(math.Abs(r.Middle())*c.Ones)+around)
}

// Before returns the largest norm that costs in the range r can have before the projection.
func (c Costs) Before(r Range) float64 {
	return float64(max(math.Abs(r.Low), math.Abs(r.High)) * math.Sqrt(float64(c.Coordinates)))
}

// Usual returns the root mean square of the norm of projected costs if costs are independent and uniform over the
// range: m²|P1|² plus the variance h²/3 in each direction.
func (c Costs) Usual(r Range) float64 {
	middle := float64(r.Middle() * c.Ones)
	variance := float64(float64(r.Half()*r.Half()) * (float64(c.Directions) / 3))
	return math.Sqrt(float64(middle*middle) + variance)
}

// CostsOf returns how o projects costs, or nil if its events are not costs.
func CostsOf(o Operator) *Costs { return ability(o, Costed.Costs) }
