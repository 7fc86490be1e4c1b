package experiment

import "math"

// combination is a linear form of the arms' statistics: a contrast, the mean of an arm, or the form that tests whether
// a lift is θ.
//
//	(1{A=arm}·(y − centre))/π_arm − factor·1{A=0}(y − m)/π_0
type combination struct {
	arm    int
	centre float64 // m for contrasts and means, θ·m for lifts
	factor float64 // 1 for contrasts, θ for lifts, 0 for means
	lift   bool    // θ is unknown, so that the form is one of a family
}

// found is the value of a combination in a release.
type found struct {
	reading
	scale float64 // s, the standard deviation of a draw in the combination
	error float64 // bound on the rounding error of the estimate
}

// evidence returns the reading from which e-values are computed: the estimate is moved towards zero by its rounding
// error.
func (f found) evidence() reading { return f.towardsZero(f.error / f.scale) }

// estimate returns B/A in units of the outcome's range.
func (f found) estimate() float64 { return float64(f.scale * f.sum / f.information) }

// halfWidth returns the half width of the confidence sequence at level 1 − α.
func (f found) halfWidth(alpha float64) float64 { return float64(f.scale*f.radius(alpha)) + f.error }

// find computes a combination. It uses the filter whose variance is the next one on the grid above the variance in the
// release.
func (x *Experiment) find(c combination) found {
	p, q := x.Propensities[c.arm], x.Propensities[0]
	own, other := 1/float64(p*p), float64(c.factor*c.factor)/float64(q*q)
	square := float64(own*x.armNoise(c.centre)) + float64(other*x.armNoise(x.Near))
	variance, guard := x.second(c.arm, c.centre)
	variance, guard = variance/p, guard/float64(p*p)
	if c.factor != 0 {
		v, g := x.second(0, x.Near)
		variance += float64(c.factor*c.factor*v) / q
		guard += float64(other * float64(c.factor*c.factor) * g)
		both := x.pooled(c.centre)/p + float64(c.factor*c.factor*x.pooled(x.Near))/q
		variance = max(variance, both)
	}
	variance += math.Sqrt(guard)
	i := above(x.bank.ratios, float64(variance*x.Events)/square)
	sum := x.bank.sum(i, c.arm) - float64(c.factor*x.bank.sum(i, 0))
	if c.centre != x.Near {
		sum += float64((1 - c.centre/x.Near) * x.bank.sum(i, len(x.Propensities)+c.arm))
	}
	scale, log := math.Sqrt(square), x.start.log
	if c.lift {
		log = x.start.logOfLift
	}
	r := reading{sum: sum / scale, information: x.bank.informationOf(i), mixing: x.mixing[i]}
	return found{
		reading: x.start.widen(r, x.bank.driftSquare(i, &x.start.known), log), scale: scale,
		error: float64(((0.5+math.Abs(0.5-c.centre))/p+float64(c.factor*(0.5+math.Abs(0.5-x.Near)))/q)*x.Rounding) / x.Events,
	}
}

// second returns an estimate of E[(y − centre)²|A=arm] from the totals, limited to possible values, and the square of
// the error that its noise may make. If no squares are released it assumes outcomes of 0 and 1, which have the largest
// second moment.
func (x *Experiment) second(arm int, centre float64) (moment, noise float64) {
	events := float64(x.Propensities[arm] * x.EventsSeen())
	moment = x.moment(x.deviations(arm, centre)/events, centre)
	away := x.start.away(x.state[spread], x.state[shifted])
	return moment, float64(x.secondNoise(centre)*away) / float64(events*events)
}

// pooled returns an estimate of E[(y − centre)²] over the events of all arms, computed like second.
func (x *Experiment) pooled(centre float64) float64 {
	sum := 0.0
	for arm := range x.Propensities {
		sum += x.deviations(arm, centre)
	}
	return x.moment(sum/x.EventsSeen(), centre)
}

// deviations returns Σ((y − centre)² − centre²) of an arm from its totals.
func (x *Experiment) deviations(arm int, centre float64) float64 {
	own := x.arm(arm)
	count, value, square := x.secondForm(centre)
	return float64(count*own[countTotal]) + float64(value*own[valueTotal]) + float64(square*own[squareTotal])
}

// moment returns mean + centre², limited to possible values, where mean is an estimate of E[(y − centre)² − centre²].
func (x *Experiment) moment(mean, centre float64) float64 {
	most := max(float64(centre*centre), float64((1-centre)*(1-centre)))
	return max(0, min(most, mean+float64(centre*centre)))
}

// secondForm returns the weights of n, Σx̃ and Σ(x̃² − ½) in Σ((y − centre)² − centre²).
func (s *Settings) secondForm(centre float64) (count, value, square float64) {
	if s.Square > 0 {
		return 0.375 - centre, 0.5 - centre, 0.25
	}
	return 0.5 - centre, 0.5 - centre, 0
}

// secondNoise returns the variance of one draw in the form whose weights secondForm returns.
func (s *Settings) secondNoise(centre float64) float64 {
	part := func(weight, deviation float64) float64 {
		return float64(weight * weight * float64(deviation*deviation))
	}
	count, value, square := s.secondForm(centre)
	return part(count, s.Count) + part(value, s.Value) + part(square, s.Square)
}

// above returns the index of the first of the ascending ratios that is at least w. If none is, it returns the last
// index.
func above(ratios []float64, w float64) int {
	low, high := 0, len(ratios)-1
	for low < high {
		if middle := (low + high) / 2; ratios[middle] < w {
			low = middle + 1
		} else {
			high = middle
		}
	}
	return low
}

// effect returns the contrast of an arm with the control.
func (x *Experiment) effect(arm int) found {
	return x.find(combination{arm: arm, centre: x.Near, factor: 1})
}

// Estimate is an estimate with the ends of its confidence sequence, in units of the outcome's range.
type Estimate struct{ Value, Low, High float64 }

// within returns the estimate value with ends value ± half, limited to possible values.
func within(value, half, low, high float64) Estimate {
	in := func(x float64) float64 { return max(low, min(high, x)) }
	return Estimate{in(value), in(value - half), in(value + half)}
}

// Effect returns how much an arm adds to the outcome compared with the control, as a weighted average over the events
// so far. The sequences of all treatments hold together, at all looks, with probability 1 − Alpha. Before Ready the
// ends are the range of possible effects.
func (x *Experiment) Effect(arm int) Estimate {
	if !x.Ready() {
		return Estimate{0, -1, 1}
	}
	f := x.effect(arm)
	return within(f.estimate(), f.halfWidth(x.alpha()), -1, 1)
}

// Mean returns the mean outcome of an arm. Its sequence holds at level 1 − Alpha for this arm, not jointly with other
// sequences.
func (x *Experiment) Mean(arm int) Estimate {
	if !x.Ready() {
		return Estimate{0.5, 0, 1}
	}
	f := x.find(combination{arm: arm, centre: x.Near})
	return within(x.Near+f.estimate(), f.halfWidth(x.Alpha), 0, 1)
}

// Evidence measures the evidence against "this arm has no effect". Before Ready there is none.
type Evidence struct {
	E float64 // e-value at this look
	P float64 // least 1/e of all looks so far: a p-value that is valid at any time
}

// Evidence returns the evidence against "this arm has no effect".
func (x *Experiment) Evidence(arm int) Evidence {
	if !x.Ready() {
		return Evidence{1, 1}
	}
	return Evidence{eValue(x.effect(arm).evidence().logE()), 1 / eValue(x.arm(arm)[bestE])}
}

// maxUnbalanced is the largest e-value of Balance at which Balanced is still true.
const maxUnbalanced = 1000

// Balanced reports whether the counts of arms have fitted their propensities at all looks so far.
func (x *Experiment) Balanced() bool { return eValue(x.state[unbalanced]) <= maxUnbalanced }

// Balance returns the e-value of the arms' counts at this look. It is large if counts do not fit the propensities.
func (x *Experiment) Balance() float64 {
	if !x.Ready() {
		return 1
	}
	return eValue(x.logBalance())
}

// Better reports whether an arm was found better than the control. An arm once found stays so, unless the arms turn out
// not to be drawn as the settings say.
func (x *Experiment) Better(arm int) bool {
	return x.Balanced() && eValue(x.arm(arm)[bestPositive]) >= 1/x.alpha()
}

// Recent returns the weight of the newer half of the events in an effect. It is one half if all events have equal
// weights. It is computed for the variance at Near, at the latest look whose number was a power of two.
func (x *Experiment) Recent() float64 { return x.state[recent] }
