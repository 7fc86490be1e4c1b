package description

import (
	"math"

	"oriel/mechanisms"
	"oriel/mechanisms/protection"
	"oriel/operators/setting"
)

// Figures are the figures that `oriel plan` prints about an operator.
type Figures struct {
	Radius   float64  // radius of the set of decisions; 0 if there is no set
	Diameter float64  // diameter of that set; 0 if unknown
	Clip     float64  // the configured clip, if the contribution's clip differs from it; 0 if they are equal
	Distance string   // the sensitivity in words; empty if it follows from the clip
	Steps    string   // how far a decision moves in a step, in words; may be empty
	Damping  *Damping // nil if unknown, or if it differs between releases

	// Searched reports that a decision makes searched steps on its objective and does not reach the minimum.
	// ORIEL_START_REGULARIZER damps these steps, but Damping is unknown.
	Searched bool

	Precision *Precision // nil if decisions are not numbers with known noise
	Band      *Band      // nil if decisions have no band around predictions

	// Mechanisms are the names of the mechanisms that the operator accepts; nil means all.
	Mechanisms []string

	// Draws reports that decisions contain random draws from the stream (mechanisms.Stream.Choose). Decisions are then
	// not determined by the releases.
	Draws bool
}

// Band describes the cost and the coverage of a band around predictions.
type Band struct {
	Level float64 // target share of labels within the band
	Noise float64 // factor by which the band increases the noise of gradients

	// MaxError returns a bound on the coverage error of an opened mechanism, as a function of the step. For every
	// sequence without null events, the share of events within the band, over all steps so far, differs from Level by
	// at most this bound, with probability 0.95 over the noise.
	MaxError func(m *mechanisms.Mechanism) (func(step uint64) float64, error)
}

// Damping describes how much of a release's noise remains in a decision, before the decision is projected. After t
// steps the noise is divided by Start + Step·N_t, where N_t is the total weight of t steps in sums of the mechanism's
// scope (mechanisms.Weight).
type Damping struct{ Start, Step float64 }

// After returns the divisor of the noise after t steps.
func (d Damping) After(s protection.Scope, t uint64) float64 {
	return d.Start + float64(d.Step*mechanisms.Weight(s, t))
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
func (c Costs) Longest(r setting.Range) float64 {
	around := float64(r.Half() * math.Sqrt(float64(c.Coordinates)))
	return min(c.Before(r), float64(math.Abs(r.Middle())*c.Ones)+around)
}

// Before returns the largest norm that costs in the range r can have before the projection.
func (c Costs) Before(r setting.Range) float64 {
	return float64(max(math.Abs(r.Low), math.Abs(r.High)) * math.Sqrt(float64(c.Coordinates)))
}

// Usual returns the root mean square of the norm of projected costs if costs are independent and uniform over the
// range: m²|P1|² plus the variance h²/3 in each direction.
func (c Costs) Usual(r setting.Range) float64 {
	middle := float64(r.Middle() * c.Ones)
	variance := float64(float64(r.Half()*r.Half()) * (float64(c.Directions) / 3))
	return math.Sqrt(float64(middle*middle) + variance)
}
