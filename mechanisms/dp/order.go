package dp

import "math"

// roughRenyi is renyi without care for rounding. Its orders t = α − 1 are where the bounds of renyi are least, and a
// bad one costs tightness alone: ln δ is convex in t, since K is, so either order is the one root of an increasing
// function.
type roughRenyi struct {
	rho   float64
	pures []responses
}

// k returns K(t).
func (r roughRenyi) k(t float64) float64 {
	k := r.rho * t * (1 + t)
	for _, pure := range r.pures {
		k += pure.count * (t*pure.loss + math.Log1p(math.Exp(-(2*t+1)*pure.loss)) - math.Log1p(math.Exp(-pure.loss)))
	}
	return k
}

// slope returns K'(t).
func (r roughRenyi) slope(t float64) float64 {
	slope := (2*t + 1) * r.rho
	for _, pure := range r.pures {
		slope += pure.count * pure.loss * math.Tanh((t+0.5)*pure.loss)
	}
	return slope
}

// orderOfDelta solves K'(t) − ln(1+1/t) = ε.
func (r roughRenyi) orderOfDelta(epsilon float64) float64 {
	return root(func(t float64) bool { return r.slope(t)-math.Log1p(1/t) < epsilon })
}

// orderOfEpsilon solves t·K'(t) − K(t) + ln(1+t) = ln(1/δ), given the right side.
func (r roughRenyi) orderOfEpsilon(log float64) float64 {
	return root(func(t float64) bool { return t*r.slope(t)-r.k(t)+math.Log1p(t) < log })
}

func (r roughRenyi) delta(epsilon float64) float64 {
	t := r.orderOfDelta(epsilon)
	return math.Exp(r.k(t) - t*epsilon - t*math.Log1p(1/t) - math.Log1p(t))
}

func (r roughRenyi) epsilon(delta float64) float64 {
	log := -math.Log(delta)
	t := r.orderOfEpsilon(log)
	return max(0, (r.k(t)+log-math.Log1p(t))/t-math.Log1p(1/t))
}

// root returns a positive t at which below turns from true to false, within bounds in which 1/t and t² are finite.
func root(below func(float64) bool) float64 {
	_, t := border(0x1p-500, 0x1p+500, below, below)
	return t
}
