package operators

import "math"

// Costed is an Operator whose events are vectors of costs, one for each coordinate of a decision.
type Costed interface {
	Operator
	Costs() *Costs // nil: events are something else
}

// Costs says what a projection on the directions in which decisions can move leaves of n costs, before these are
// clipped. A set with an interior has all n directions.
type Costs struct {
	Coordinates int     // n
	Directions  int     // dimension of what costs are projected on
	Ones        float64 // norm of what is left of n costs of 1
	Reason      string  // why costs are not projected though decisions cannot move in all directions; empty: they are
}

// Longest bounds the norm of what is left of costs in a range with the middle m and the half h: |Pc| ≤ |m|·|P1| + h√n,
// since c − m·1 has coordinates of at most h and a projection lengthens nothing; and |Pc| ≤ |c|.
func (c Costs) Longest(r Range) float64 {
	around := float64(r.Half() * math.Sqrt(float64(c.Coordinates)))
	return min(c.Before(r), float64(math.Abs(r.Middle())*c.Ones)+around)
}

// Before is the largest norm of the costs themselves.
func (c Costs) Before(r Range) float64 {
	return float64(max(math.Abs(r.Low), math.Abs(r.High)) * math.Sqrt(float64(c.Coordinates)))
}

// Usual is the root of the mean square of the norm where costs are independent and even over the range: m²|P1|² plus
// the variance h²/3 in each direction.
func (c Costs) Usual(r Range) float64 {
	middle := float64(r.Middle() * c.Ones)
	variance := float64(float64(r.Half()*r.Half()) * (float64(c.Directions) / 3))
	return math.Sqrt(float64(middle*middle) + variance)
}

// CostsOf returns what o does to costs, or nil.
func CostsOf(o Operator) *Costs {
	if c, ok := o.(Costed); ok {
		return c.Costs()
	}
	return nil
}
