package experiment

import (
	"errors"
	"math"

	"oriel/operators/elementary"
)

// Experiment is one A/B test over a stream. It is not safe for concurrent use.
type Experiment struct {
	Settings
	state []float64 // all numbers that change; all of them are public
	bank  *bank     // statistics: Σ1{A=k}(y − m)/π_k of each arm and, with Lift, then m·Σ1{A=k}/π_k of each arm
	check *bank     // statistics: the contrast of counts of each treatment, then the count of newer events
	total *total
	start choice

	mixing, checkMixing []float64 // r of each filter
	balanceNoise        []float64 // variance of a draw in the contrast of counts, by treatment
	increments, counts  []float64 // scratch
}

// Arm is the release of one step for one arm: noisy increments of its count, of its Σx̃ and of its Σ(x̃² − ½).
type Arm struct{ Count, Value, Square float64 }

// These are the indices of the first numbers of the state. The numbers of the arms follow.
const (
	looks       = iota
	spread      // variance of the noise of a sum since the start, without the shift; the unit is the variance of a draw
	shifted     // variance of the shift of that noise if nobody looked before the announcement
	unbalanced  // largest ln e-value of the balance so far, or 0
	recent      // result of Recent: weight of the newer half of events
	recentFrom  // number of looks at which recent was computed, a power of two
	experiments // number of the indices before the arms
)

// These are the indices of the numbers of an arm: totals and, for treatments, the largest ln e and ln e⁺ so far, at
// least 0.
const (
	countTotal = iota
	valueTotal
	squareTotal
	bestE
	bestPositive
	armNumbers
)

// New returns an experiment before its first step.
func New(s Settings) *Experiment {
	x := &Experiment{Settings: s}
	arms, poles := len(s.Propensities), len(s.Noise.Poles)
	ratios, width := s.grid(), arms
	if s.Lift {
		width += arms
	}
	var checked []float64
	for k := 1; k < arms; k++ {
		p, q := s.Propensities[k], s.Propensities[0]
		noise := float64(float64(s.Count*s.Count) * (1/float64(p*p) + 1/float64(q*q)))
		x.balanceNoise = append(x.balanceNoise, noise)
		checked = append(checked, float64((1/p+1/q)*s.Events)/noise)
	}
	checked = append(checked, float64(s.variance(s.Near)*s.Propensities[0]*s.Events)/s.armNoise(s.Near))
	lengths := [...]int{
		experiments + arms*armNumbers, totalLen(poles), bankLen(len(ratios), poles, width), bankLen(arms, poles, arms),
	}
	n := 0
	for _, l := range lengths {
		n += l
	}
	x.state = make([]float64, n)
	rest := x.state[lengths[0]:]
	x.start = s.choice()
	x.total = newTotal(&x.Noise, s.Start, s.Announced, rest[:lengths[1]])
	rest = rest[lengths[1]:]
	x.bank = newBank(&x.Noise, ratios, width, s.Events, &x.start.origin, rest[:lengths[2]])
	x.check = newBank(&x.Noise, checked, arms, s.Events, &x.start.origin, rest[lengths[2]:])
	x.mixing, x.checkMixing = s.mixings(ratios), s.mixings(checked)
	x.increments, x.counts = make([]float64, width), make([]float64, arms)
	return x
}

// Restart makes x a new experiment on the same stream, before its first step. The new experiment starts after `start`
// steps of the stream, and was announced after `announced` of them. Nothing of the earlier experiment is kept.
func (x *Experiment) Restart(start, announced uint64) {
	clear(x.state)
	x.Resume(start, announced)
	x.total.block()
	x.bank.block(&x.start.origin)
	x.check.block(&x.start.origin)
}

// Resume must be called after the numbers of a stored experiment were written into State, with the arguments of that
// experiment's Restart.
func (x *Experiment) Resume(start, announced uint64) {
	x.Start, x.Announced = start, announced
	x.start = x.choice()
	x.total.from(start, announced)
}

// variance returns the variance of an outcome of 0 or 1 with the given mean.
func (s *Settings) variance(mean float64) float64 { return float64(mean * (1 - mean)) }

// mixings returns r of every ratio w, from A(Target) ≈ (BL)²/(wL + Var N_L), where L is the number of steps of Target.
func (s *Settings) mixings(ratios []float64) []float64 {
	steps := s.TargetSteps()
	variance, events := s.Noise.variance(steps), float64(s.Events*float64(steps))
	r := make([]float64, len(ratios))
	for i, w := range ratios {
		r[i] = mixing(float64(events*events)/(float64(w*float64(steps))+variance), s.alpha())
	}
	return r
}

// State returns all numbers that change, for a caller that stores them. Their number depends on the settings.
func (x *Experiment) State() []float64 { return x.state }

var errState = errors.New("experiment: state: does not belong to so many looks")

// Check returns an error if the numbers in State cannot be a state after the given number of steps of the stream.
func (x *Experiment) Check(steps uint64) error {
	for _, v := range x.state {
		if !(math.Abs(v) <= math.MaxFloat64) {
			return errState
		}
	}
	if want := max(steps, x.Start) - x.Start; x.state[looks] != float64(want) {
		return errState
	}
	return nil
}

// Looks returns the number of the experiment's steps so far, and EventsSeen the number of its events.
func (x *Experiment) Looks() uint64       { return uint64(x.state[looks]) }
func (x *Experiment) EventsSeen() float64 { return float64(x.state[looks] * x.Events) }

// Ready reports whether there are enough events for confidence sequences, which assume that sums are nearly normal.
func (x *Experiment) Ready() bool { return x.EventsSeen() >= FirstLook }

// arm returns the numbers of the state of an arm.
func (x *Experiment) arm(k int) []float64 { return x.state[experiments+k*armNumbers:][:armNumbers] }

// Take adds the release of the stream's next step, which has one element for each arm.
func (x *Experiment) Take(arms []Arm) {
	x.state[looks]++
	l := uint64(x.state[looks])
	x.state[spread] = x.total.step(l)
	x.state[shifted] = x.total.state[shift]
	for k, a := range arms {
		p, own := x.Propensities[k], x.arm(k)
		own[countTotal] += a.Count
		own[valueTotal] += a.Value
		own[squareTotal] += a.Square
		x.increments[k] = (a.Value/2 + float64((0.5-x.Near)*a.Count)) / p
		x.counts[k] = a.Count / p
		if x.Lift {
			x.increments[len(arms)+k] = float64(x.Near * x.counts[k])
		}
	}
	control := x.counts[0]
	for k := 1; k < len(arms); k++ {
		x.counts[k-1] = x.counts[k] - control
	}
	x.counts[len(arms)-1] = x.Events // the statistic of newer events
	x.bank.step(x.increments)
	x.check.step(x.counts)
	if l&(l-1) == 0 {
		x.halve(l)
	}
	if period := x.Noise.Period; period > 0 && (x.Start+l)%period == 0 {
		x.bank.reset()
		x.check.reset()
	}
	if x.Ready() {
		x.look()
	}
}

// halve updates recent at look l, if l is a power of two: the weight of the events since look l/2.
func (x *Experiment) halve(l uint64) {
	last := len(x.Propensities) - 1
	if x.state[recent] = 0; l > 1 {
		x.state[recent] = x.check.sum(last, last) / x.check.informationOf(last)
	}
	x.check.forget(last)
	x.state[recentFrom] = float64(l)
}

// look updates the largest e-values after a step.
func (x *Experiment) look() {
	x.state[unbalanced] = max(x.state[unbalanced], x.logBalance())
	for k := 1; k < len(x.Propensities); k++ {
		r, own := x.effect(k).evidence(), x.arm(k)
		own[bestE] = max(own[bestE], r.logE())
		own[bestPositive] = max(own[bestPositive], r.logPositive())
	}
}

// logBalance returns ln of the mean of the treatments' e-values for the balance of arms. A mean of e-values is an
// e-value.
func (x *Experiment) logBalance() float64 {
	mean := 0.0
	for i, noise := range x.balanceNoise {
		r := reading{
			sum: x.check.sum(i, i) / math.Sqrt(noise), information: x.check.informationOf(i), mixing: x.checkMixing[i],
		}
		r = x.start.widen(r, x.check.driftSquare(i, &x.start.known), x.start.log)
		error := float64((1/x.Propensities[i+1] + 1/x.Propensities[0]) * x.Rounding)
		mean += eValue(r.towardsZero(error/math.Sqrt(noise)/x.Events).logE()) / float64(len(x.balanceNoise))
	}
	return elementary.Log(mean)
}
