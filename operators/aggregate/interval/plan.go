package interval

import "math"

// MeanPlan is a mean that a user plans to publish, from Events events of a cell. Range is the width of the public
// range, in the user's units. a and b are the public weights. At in [−1, 1] is the expected mean; 0 is the middle of
// the range. The noise of the count adds At² times its variance, so nothing for a mean in the middle. So a small a pays
// off only for means near the middle.
type MeanPlan struct {
	Count, Mean float64 // a, b > 0
	Range       float64 // width of the public range, > 0
	Events      float64 // number of events of the cell, > 0
	At          float64
}

// HalfWidth returns the half width of the mean's interval in the user's units: z·(Range/2)·σ·√(1/b² + At²/a²)/Events. σ
// is the standard deviation of a released column in loss units. The formula is of first order in the noise: it is
// Fieller's set for a count far above its noise.
func (p MeanPlan) HalfWidth(deviation, z float64) float64 {
	at := p.At / p.Count
	variance := 1/float64(p.Mean*p.Mean) + float64(at*at)
	return float64(float64(float64(z*p.Range)*math.Sqrt(variance))*deviation) / 2 / p.Events
}
