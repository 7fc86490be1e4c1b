package experiment

import "math"

// The grid of lifts: equal ratios from 1/8 to 8, and the number of halvings in the search for an end.
const (
	lifts      = 41
	mostLift   = 8.0
	liftRatio  = 0x1.1c0cbeb32bdf9p+0 // 64^(1/40)
	liftHalves = 16
)

// Unbounded is the upper end of a lift without an upper bound.
const Unbounded = math.MaxFloat64

// ratio returns the combination that tests a lift θ: 1{A=k}(y − θm)/π_k − θ·1{A=0}(y − m)/π_0 has mean 0 if the mean of
// the arm is θ times the mean of the control.
func (x *Experiment) ratio(arm int, theta float64) found {
	return x.find(combination{arm, float64(theta * x.Near), theta})
}

// rejects reports whether the sequence of the lift's contrast excludes 0.
func (x *Experiment) rejects(arm int, theta float64) bool {
	f := x.ratio(arm, theta)
	return math.Abs(f.estimate()) > f.halfWidth(x.alpha())
}

// Ratio returns the ratio of an arm's mean to the control's mean, with the range from the least to the greatest ratio
// that is not rejected. The range starts at 0 if 1/8 is not rejected, and ends at Unbounded if 8 is not. If levels
// drift it is the ratio of weighted averages.
func (x *Experiment) Ratio(arm int) Estimate {
	all := Estimate{1, 0, Unbounded}
	if !x.Ready() {
		return all
	}
	treated, control := x.mean(arm), x.mean(0)
	if !(control > 0 && treated > 0) {
		return all
	}
	value := max(1/mostLift, min(mostLift, treated/control))
	low, high := value, value // the outermost that are not rejected
	below, above := 0.0, 0.0  // the next points of the grid outside; 0: there are none
	theta := 1 / mostLift
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
	return x.Near + x.find(combination{arm, x.Near, 0}).estimate()
}

// end returns the point where rejection begins between inside and outside, rounded to the outer side.
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
