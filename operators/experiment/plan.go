package experiment

import "math"

// Plan is how many events it takes to see an effect.
type Plan struct {
	OneLook    float64 // without privacy, where one looks once, at the end
	NoPrivacy  float64 // without privacy, at any look
	AlwaysLook float64 // as the settings are
}

// Plan returns the events after which an effect of a size, in units of the outcome's range, is found with a probability
// of power: its sequence then leaves 0 out. Outcomes are 0 and 1 with the mean Near, arm against control. A number is 0
// where so many steps are not enough.
//
//	|d|·√A(n) ≥ √((1 + r/A)·(ln((A + r)/r) + 2 ln(1/α))) + Φ⁻¹(power)
func (s Settings) Plan(arm int, effect, power float64, steps uint64) Plan {
	p, q := s.Propensities[arm], s.Propensities[0]
	variance := float64(s.variance(s.Near) * (1/p + 1/q))
	noise := float64(s.armNoise(s.Near) * (1/float64(p*p) + 1/float64(q*q)))
	z, reach := quantile(1-s.alpha()/2), quantile(power)
	plan := Plan{OneLook: math.Ceil(float64((z+reach)*(z+reach)) * variance / float64(effect*effect))}
	plan.AlwaysLook = s.events(variance, noise, effect, reach, steps)
	s.Noise = Noise{}
	plan.NoPrivacy = s.events(variance, float64(variance*s.Events)/noiseless, effect, reach, steps)
	return plan
}

// noiseless is the ratio of variances where there is next to no noise.
const noiseless = 1e9

// events is the first multiple of a step at which the plan's inequality holds.
func (s *Settings) events(variance, noise, effect, reach float64, steps uint64) float64 {
	w := []float64{float64(variance*s.Events) / noise}
	x := reading{mixing: s.mixings(w)[0]}
	b := newBank(&s.Noise, w, 0, s.Events, s.Start, make([]float64, bankLen(1, len(s.Noise.Poles), 0)))
	for l := uint64(1); l <= steps; l++ {
		b.step(nil)
		if period := s.Noise.Period; period > 0 && (s.Start+l)%period == 0 {
			b.block(0)
		}
		x.information = b.informationOf(0)
		signal := float64(math.Abs(effect) * math.Sqrt(x.information/noise))
		events := float64(s.Events * float64(l))
		if events >= FirstLook && signal >= float64(x.radius(s.alpha())*math.Sqrt(x.information))+reach {
			return events
		}
	}
	return 0
}
