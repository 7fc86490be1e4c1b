package experiment

import (
	"math"

	"oriel/operators/elementary"
)

// reading is the pair (A, B) of a statistic in one filter of the bank. Its unit is the standard deviation of the noise
// of one draw in that statistic.
type reading struct {
	sum         float64 // B, the information times the estimate
	information float64 // A, the inverse of the estimate's variance
	mixing      float64 // r, the public precision of the normal mixture

	// If the start was chosen by looking, the mixture has the clock A′ = A + κs² in place of A, and e-values are divided
	// by e^price (chosen.go). Otherwise both numbers are 0.
	added float64 // κs²
	price float64
}

// clock returns A′ + r.
func (x reading) clock() float64 { return x.information + x.added + x.mixing }

// radius returns the half width of the confidence sequence of the estimate B/A at level 1 − α:
//
//	√((A′ + r)·(ln((A′ + r)/r) + 2 ln(1/α) + 2 price))/A.
func (x reading) radius(alpha float64) float64 {
	a := x.clock()
	return math.Sqrt(a*(elementary.Log(a/x.mixing)-float64(2*elementary.Log(alpha))+float64(2*x.price))) / x.information
}

// logE returns ln of the e-value √(r/(A′ + r))·exp(B²/(2(A′ + r)) − price) against the hypothesis "no effect ever".
func (x reading) logE() float64 {
	a := x.clock()
	return (float64(x.sum*x.sum)/a-elementary.Log(a/x.mixing))/2 - x.price
}

// logPositive returns ln of the one-sided e-value 2Φ(B/√(A′ + r))·e against the hypothesis "the effect is never
// positive", where e is the e-value of logE.
func (x reading) logPositive() float64 {
	a := x.clock()
	return logMixture(x.sum/math.Sqrt(a)) - float64(elementary.Log(a/x.mixing)/2) - x.price
}

// towardsZero moves the estimate B/A towards zero by a bound on its rounding error, because B may contain the rounding
// of the carry.
func (x reading) towardsZero(error float64) reading {
	off := float64(x.information * error)
	switch {
	case x.sum > off:
		x.sum -= off
	case x.sum < -off:
		x.sum += off
	default:
		x.sum = 0
	}
	return x
}

// mixing returns the r whose confidence sequence at α is narrowest near a public amount of information.
func mixing(information, alpha float64) float64 {
	most := -float64(2 * elementary.Log(alpha))
	return information / (most + elementary.Log(1+most))
}

// maxLogE is the largest ln e, so that published e-values are finite.
const maxLogE = 690

// eValue returns e^x, at most e^maxLogE.
func eValue(x float64) float64 { return elementary.Exp(min(x, maxLogE)) }
