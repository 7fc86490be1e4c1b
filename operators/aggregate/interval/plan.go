package interval

import "math"

// MeanPlan is a mean that a user plans to publish, from Events events of a cell. Range is the width of the public
// range, in the user's units. a and b are the public weights. At in [−1, 1] is where the mean is expected, 0 the middle
// of the range. The noise of the count costs nothing in the middle, and At² of its variance elsewhere. So a small a
// pays off only for means near the middle.
type MeanPlan struct {
	Count, Mean float64 // a, b > 0
	Range       float64 // > 0
	Events      float64 // > 0
	At          float64
}

// HalfWidth returns the ± of the mean in the user's units, to the first order in the noise (Fieller's set for a count
// far beyond its noise): z·(Range/2)·σ·√(1/b² + At²/a²)/Events, where σ is the deviation of a released column in loss
// units.
func (p MeanPlan) HalfWidth(deviation, z float64) float64 {
	at := p.At / p.Count
	variance := 1/float64(p.Mean*p.Mean) + float64(at*at)
	return float64(float64(float64(z*p.Range)*math.Sqrt(variance))*deviation) / 2 / p.Events
}
