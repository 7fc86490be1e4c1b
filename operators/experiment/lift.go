package experiment

import "math"

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
