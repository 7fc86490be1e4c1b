package experiment

import (
	"math"

	"oriel/operators/elementary"
)

// The constants define the grid of lifts, from 1/8 to 8 in equal ratios, and the number of halvings in the search for
// an end.
const (
	lifts      = 41
	maxLift    = 8.0
	liftRatio  = 0x1.1c0cbeb32bdf9p+0 // 64^(1/40), the ratio of neighbours on the grid
	liftHalves = 16
)

// Unbounded is the upper end of a lift without an upper bound.
const Unbounded = math.MaxFloat64

// ratio returns the combination that tests a lift θ: 1{A=k}(y − θm)/π_k − θ·1{A=0}(y − m)/π_0 has mean 0 if the mean of
// the arm is θ times the mean of the control.
func (x *Experiment) ratio(arm int, theta float64) found {
	return x.find(combination{arm, float64(theta * x.Near), theta, true})
}

// rejects reports whether the lift theta is rejected: the sequence of its contrast excludes 0.
func (x *Experiment) rejects(arm int, theta float64) bool {
	f := x.ratio(arm, theta)
	return math.Abs(f.estimate()) > f.halfWidth(x.alpha())
}

// Ratio returns the ratio of an arm's mean to the control's mean, with the ends of its confidence sequence: the least
// and the greatest ratio that is not rejected. The low end is 0 if 1/8 is not rejected, and the high end is Unbounded
// if 8 is not rejected. If the means drift, the ratio is a ratio of weighted averages.
func (x *Experiment) Ratio(arm int) Estimate {
	all := Estimate{1, 0, Unbounded}
	if !x.Ready() {
		return all
	}
	treated, control := x.mean(arm), x.mean(0)
	if !(control > 0 && treated > 0) {
		return all
	}
	value := max(1/maxLift, min(maxLift, treated/control))
	low, high := value, value // the smallest and the largest lift that is not rejected
	below, above := 0.0, 0.0  // the next rejected points of the grid on either side; 0 if there are none
	theta := 1 / maxLift
	for range lifts {
		switch {
		case !x.rejects(arm, theta):
			low, high = min(low, theta), max(high, theta)
			above = 0
		case theta < low:
			below = theta
		case theta > high && above == 0:
			above = theta
		}
		theta = float64(theta * liftRatio)
	}
	r := Estimate{treated / control, 0, Unbounded}
	if below > 0 {
		r.Low = x.end(arm, low, below)
	}
	if above > 0 {
		r.High = x.end(arm, high, above)
	}
	return r
}

// mean returns the estimate of an arm's mean.
func (x *Experiment) mean(arm int) float64 {
	return x.Near + x.find(combination{arm: arm, centre: x.Near}).estimate()
}

// end searches the point between inside, which is not rejected, and outside, which is. It rounds towards outside.
func (x *Experiment) end(arm int, inside, outside float64) float64 {
	for range liftHalves {
		if middle := (inside + outside) / 2; x.rejects(arm, middle) {
			outside = middle
		} else {
			inside = middle
		}
	}
	return outside
}

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
	return elementary.LogMixture(x.sum/math.Sqrt(a)) - float64(elementary.Log(a/x.mixing)/2) - x.price
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
