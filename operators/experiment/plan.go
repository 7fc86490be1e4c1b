package experiment

import (
	"math"

	"oriel/operators/elementary"
)

// Plan is the number of events that an experiment needs to detect an effect.
type Plan struct {
	OneLook    float64 // without privacy, for a test with a single look at the end
	NoPrivacy  float64 // without privacy, with looks at any time
	AlwaysLook float64 // with the settings, with looks at any time
}

// MaxDeviation returns the largest standard deviation of outcomes with mean Near, in units of their range.
func (s *Settings) MaxDeviation() float64 { return math.Sqrt(s.variance(s.Near)) }

// Plan returns the number of events after which an effect has been detected with probability power. The effect is in
// units of the outcome's range. An effect is detected when its sequence excludes 0 at some look; verdicts come about an
// eighth sooner. Outcomes have mean Near in the control and Near + effect in the arm. Their standard deviation in each
// arm is in units of their range; 0 means that they are 0 and 1. A number is 0 if the given steps are not enough.
func (s Settings) Plan(arm int, effect, deviation, power float64, steps uint64) Plan {
	p, q := s.Propensities[arm], s.Propensities[0]
	treated := max(0, min(1, s.Near+effect))
	shift := float64((treated-s.Near)*(treated-s.Near)) / p // shift of the second moment about Near
	binary := s.variance(treated)/p + s.variance(s.Near)/q
	once := binary
	if deviation > 0 {
		once = float64(deviation * deviation * (1/p + 1/q))
	}
	variance, taken := once+shift, s.taken(arm, treated, deviation)
	noise := float64(s.armNoise(s.Near) * (1/float64(p*p) + 1/float64(q*q)))
	guard := s.guard(arm)
	z, reach := elementary.Quantile(1-s.alpha()/2), elementary.Quantile(power)
	plan := Plan{OneLook: math.Ceil(float64((z+reach)*(z+reach)) * once / float64(effect*effect))}
	plan.AlwaysLook = s.found(variance, taken, noise, guard, effect, power, steps)
	s.Noise, s.Announced = Noise{}, 0
	plan.NoPrivacy = s.found(variance, variance, float64(variance*s.Events)/noiseless, 0, effect, power, steps)
	return plan
}

// taken returns the variance of the contrast that looks use, without their guard against noise. Outcomes have the mean
// treated in the arm, and Near in all other arms.
func (s *Settings) taken(arm int, treated, deviation float64) float64 {
	p, q := s.Propensities[arm], s.Propensities[0]
	own, other := s.variance(treated), s.variance(s.Near)
	if deviation > 0 && s.Square != 0 {
		own, other = float64(deviation*deviation), float64(deviation*deviation)
	}
	own += float64((treated - s.Near) * (treated - s.Near))
	variance := own/p + other/q
	return max(variance, float64((float64(p*own)+float64((1-p)*other))*(1/p+1/q)))
}

// guard returns the variance of a draw in t times the estimate of the contrast's variance, which divides the second
// moment of an arm, a sum over π·t events, by π.
func (s *Settings) guard(arm int) float64 {
	p, q := s.Propensities[arm], s.Propensities[0]
	p, q = float64(p*p), float64(q*q)
	return float64(s.secondNoise(s.Near) * (1/float64(p*p) + 1/float64(q*q)))
}

const (
	// noiseless is the ratio of variances that stands for almost no noise.
	noiseless = 1e9

	// spacing is the factor between two values of the information at which crossings are computed, and lastSpacing the
	// factor before the last value. The cells of a crossing must be finer than its kernel.
	spacing     = 1.05
	lastSpacing = 1.005

	// between corrects a boundary that is checked only at looks to one that is watched continuously. It raises the
	// boundary by this many standard deviations of a step: −ζ(½)/√(2π) (D. Siegmund, Sequential analysis, 1985, chapter
	// X).
	between = 0.5826
)

// found returns the number of events, a multiple of a step's, by which an effect is detected with probability power. B
// is a Brownian motion whose drift is the effect, on the clock A of the filter with the true variance. A look uses the
// filter for a different variance: the one that it takes, plus its guard. That filter has other information A′, and
// about the same estimate. So the boundary of B is A times the radius at A′.
func (s *Settings) found(variance, taken, noise, guard, effect, power float64, steps uint64) float64 {
	w := float64(variance*s.Events) / noise
	ratios := []float64{w}
	if guard > 0 {
		ratios = s.grid()
	}
	mixings := s.mixings(ratios)
	truth, looked := s.filterOf(w), make([]*filterOf, len(ratios))
	total, start := newTotal(&s.Noise, s.Start, s.Announced, make([]float64, totalLen(len(s.Noise.Poles)))), s.choice()
	way, before, share := crossing{drift: math.Abs(effect) / math.Sqrt(noise)}, 0.0, 0.0
	for l := uint64(1); l <= steps; l++ {
		last := truth.informationAt(l - 1)
		spread, a, events := total.step(l), truth.informationAt(l), float64(s.Events*float64(l))
		if events < FirstLook || a < float64(way.clock*spacing) && (l < steps || a < float64(way.clock*lastSpacing)) {
			continue
		}
		guarded := taken + math.Sqrt(float64(guard*start.away(spread, total.state[shift])))/events
		i := above(ratios, float64(guarded*s.Events)/noise)
		if looked[i] == nil {
			looked[i] = s.filterOf(ratios[i])
		}
		x := looked[i].readingAt(l, mixings[i], &start)
		way.move(a, float64(a*x.radius(s.alpha()))+float64(between*math.Sqrt(a-last)))
		now := way.crossed()
		if now >= power {
			part := (power - share) / (now - share)
			return float64(s.Events * math.Ceil(max(FirstLook, before+float64(part*(events-before)))/s.Events))
		}
		before, share = events, now
	}
	return 0
}

// filterOf is the filter of one ratio. It advances only when it is read, because looks read few of the grid's filters.
type filterOf struct {
	bank *bank
	s    *Settings
	at   uint64 // steps so far
}

func (s *Settings) filterOf(ratio float64) *filterOf {
	memory, from := make([]float64, bankLen(1, len(s.Noise.Poles), 0)), s.Noise.origin(s.Start, s.Announced)
	return &filterOf{bank: newBank(&s.Noise, []float64{ratio}, 0, s.Events, &from, memory), s: s}
}

// informationAt returns the information after l steps. l must not decrease from call to call.
func (f *filterOf) informationAt(l uint64) float64 {
	for f.at < l {
		f.at++
		f.bank.step(nil)
		if period := f.s.Noise.Period; period > 0 && (f.s.Start+f.at)%period == 0 {
			f.bank.reset()
		}
	}
	return f.bank.informationOf(0)
}

// readingAt returns the reading of a sum of 0 after l steps.
func (f *filterOf) readingAt(l uint64, mixing float64, start *choice) reading {
	x := reading{information: f.informationAt(l), mixing: mixing}
	return start.widen(x, f.bank.driftSquare(0, &start.known), start.log)
}

// Wider returns how many times as wide the widest sequence of an effect is, after the given number of steps, as if
// nobody could have looked before choosing Start. There is no effect, and outcomes are 0 and 1 with mean Near.
func (s Settings) Wider(steps uint64) float64 {
	fixed, most := s, 0.0
	fixed.Announced = 0
	for arm := 1; arm < len(s.Propensities); arm++ {
		most = max(most, s.halfWidth(arm, steps)/fixed.halfWidth(arm, steps))
	}
	return most
}

// halfWidth returns the half width of an arm's sequence after the given number of steps, in units of a draw.
func (s *Settings) halfWidth(arm int, steps uint64) float64 {
	p, q := s.Propensities[arm], s.Propensities[0]
	forms := 1/float64(p*p) + 1/float64(q*q)
	total, start := newTotal(&s.Noise, s.Start, s.Announced, make([]float64, totalLen(len(s.Noise.Poles)))), s.choice()
	spread := 0.0
	for l := range steps {
		spread = total.step(l + 1)
	}
	guard := math.Sqrt(float64(s.guard(arm)*start.away(spread, total.state[shift]))) / float64(s.Events*float64(steps))
	ratios := s.grid()
	i := above(ratios, float64((s.taken(arm, s.Near, 0)+guard)*s.Events)/float64(s.armNoise(s.Near)*forms))
	return s.filterOf(ratios[i]).readingAt(steps, s.mixings(ratios)[i], &start).radius(s.alpha())
}

// crossing is the law of a Brownian motion with drift that has not yet crossed a boundary.
type crossing struct {
	drift, clock, bound float64

	low, width float64 // lower end and width of the cells, which end at the boundary
	mass       [crossingCells]float64
}

const (
	crossingCells = 192
	crossingLow   = 5 // the cells begin this many standard deviations below 0
	crossingReach = 6 // the kernel ends after this many standard deviations
)

// move advances to the given clock and boundary. The boundary is linear in time between c and c′. A motion from x to y,
// over a time of Δ, meets the boundary with probability exp(−2(c − x)(c′ − y)/Δ) (D. Siegmund, Sequential analysis,
// 1985, chapter III).
func (c *crossing) move(clock, bound float64) {
	var next [crossingCells]float64
	deviation := math.Sqrt(clock - c.clock)
	shift := float64(c.drift * (clock - c.clock))
	low := -float64(crossingLow * math.Sqrt(clock))
	width := (bound - low) / crossingCells
	kernel := func(from, to float64) float64 {
		z := (to - from - shift) / deviation
		if math.Abs(z) > crossingReach {
			return 0
		}
		return float64(width / (elementary.RootTwoPi * deviation) * elementary.Exp(-float64(z*z)/2))
	}
	for i := range next {
		y := low + float64((float64(i)+0.5)*width)
		if c.clock == 0 {
			next[i] = kernel(0, y)
			continue
		}
		for k, mass := range c.mass {
			x := c.low + float64((float64(k)+0.5)*c.width)
			if p := kernel(x, y); p > 0 {
				meets := elementary.Exp(-float64(2*(c.bound-x)) * (bound - y) / (clock - c.clock))
				next[i] += float64(float64(mass*p) * (1 - meets))
			}
		}
	}
	c.clock, c.bound, c.low, c.width, c.mass = clock, bound, low, width, next
}

// crossed returns the probability that the motion has crossed the boundary.
func (c *crossing) crossed() float64 {
	sum := 0.0
	for _, mass := range c.mass {
		sum += mass
	}
	return 1 - sum
}
