package experiment

import (
	"math"
	"testing"
)

// mean returns the mean of exp(f(x)) where x is normal, by the sum over a fine grid.
func mean(at, variance float64, f func(x float64) float64) (sum float64) {
	const width = 1.0 / 8
	for z := -40.0; z <= 40; z += width {
		sum += math.Exp(f(at+math.Sqrt(variance)*z)-z*z/2) * width / math.Sqrt(2*math.Pi)
	}
	return sum
}

// TestTheWorstKnownPart checks Theorem 6 at a fixed look, for known parts of all sizes. With X = exp(c'Σ⁻¹c/2)/C, the
// mean of either e-value is at most max(1, X^(1/κ₀))/(1 + δ(p−1)^(p−1)/p^p). The bound must also be nearly attained, so
// that no more is paid than is proved. A band must end where the e-value of two sides is 1/α.
func TestTheWorstKnownPart(t *testing.T) {
	most := 0.0
	for _, log := range []float64{8, 20, 30} {
		c := choice{origin: origin{seen: true}, log: log, worth: 8}
		for _, r := range []float64{0.02, 0.125, 1} {
			for _, square := range []float64{0, 1e-4, 0.01, 0.1, 1} {
				for _, size := range []float64{0, 0.5, 1, 1.5, 3} { // of c'Σ⁻¹c, in units of 2 ln C
					x := c.widen(reading{information: 1, mixing: r}, square, log)
					shift := math.Sqrt(2 * log * size * square)
					bound := math.Exp(max(0, log*(size-1)/leastClock)) / (1 + priceAboveOne())
					for _, at := range []float64{shift, -shift} {
						two := mean(at, 1, func(b float64) float64 { x.sum = b; return x.logE() })
						one := mean(at, 1, func(b float64) float64 { x.sum = b; return x.logPositive() })
						if two > bound || one > bound {
							t.Errorf("ln C of %g, r = %g, s'Σs = %g, %g of 2 ln C: means %g and %g, above %g", log, r, square, size, two, one, bound)
						}
						most = max(most, two/bound, one/bound)
					}
				}
				x := c.widen(reading{information: 1, mixing: r}, square, log)
				if x.sum = x.radius(0.01) * x.information; math.Abs(x.logE()-math.Log(100)) > 1e-9 {
					t.Errorf("ln C of %g, r = %g, s'Σs = %g: at the end of the band of 0.01 ln e is %g, want ln 100", log, r, square, x.logE())
				}
			}
		}
	}
	if most < 0.9 {
		t.Errorf("means are at most %g of their bound", most)
	}
}

// priceAboveOne returns δ(p−1)^(p−1)/p^p.
func priceAboveOne() float64 {
	const p = moment * leastClock
	return math.Pow(p-1, p-1) / math.Pow(p, p) / 4
}

// TestAllAnnouncementsTogether checks what C must satisfy: E[Σ_a X_a^u] is at most 1/4 over all steps a at which an
// experiment may be announced. c'Σ⁻¹c has a chi-squared law with m degrees of freedom, 2m for lifts, and poles at
// zero do not count.
func TestAllAnnouncementsTogether(t *testing.T) {
	if math.Exp(priceOfClock) < 1+priceAboveOne() || priceOfClock > math.Log1p(priceAboveOne())+1e-3 {
		t.Errorf("the price of clocks is %g, for %g", priceOfClock, math.Log1p(priceAboveOne()))
	}
	for name, noise := range map[string]*Noise{"3 poles": memory1024(), "3 poles and one at zero": horizon1000()} {
		s := halves(0.1, 100)
		s.Noise, s.Noise.Period = *noise, 0
		sum, ofLifts := 0.0, 0.0
		for level := range 63 { // of 64 levels, because the last one has no later start
			first := uint64(1) << level
			for _, a := range []uint64{first, first + (first - 1)} { // C is the same for all steps between
				s.Announced, s.Start = a, a+1
				c := s.choice()
				sum += float64(first) / 2 * math.Exp(-moment*c.log) * math.Pow(1-moment, -3.0/2)
				ofLifts += float64(first) / 2 * math.Exp(-moment*c.logOfLift) * math.Pow(1-moment, -3)
			}
		}
		if math.Abs(sum-63.0/256) > 1e-9 || math.Abs(ofLifts-63.0/256) > 1e-9 {
			t.Errorf("%s: %g of contrasts, %g of lifts, want 63/256", name, sum, ofLifts)
		}
	}
}

// TestWhatAChosenStartCosts checks which numbers of an experiment pay for its start: nothing if it was announced before
// the first step or before the last reset of the noise. Otherwise effects and means pay, lifts pay for two dimensions,
// the variance has a guard against the shift, and the balance of arms pays, too.
func TestWhatAChosenStartCosts(t *testing.T) {
	s := halves(0.1, 100)
	s.Lift, s.Noise = true, *memory1024()
	s.Noise.Period = 1024
	run := func(start, announced uint64) *Experiment {
		s.Start, s.Announced = start, announced
		x, arms := New(s), []Arm{{50, -40, 0}, {50, -38, 0}}
		for range 100 {
			x.Take(arms)
		}
		return x
	}
	free, reset, chosen := run(900, 0), run(1100, 1000), run(900, 880)
	for _, x := range []*Experiment{free, reset} {
		if f := x.effect(1); f.price != 0 || f.added != 0 || x.ratio(1, 1).price != 0 || x.state[shifted] != 0 {
			t.Errorf("start %d, announced after %d: %+v", x.Start, x.Announced, f)
		}
	}
	effect, lift := chosen.effect(1), chosen.ratio(1, 1)
	if lift.price <= effect.price || effect.price <= priceOfClock || effect.added <= 0 {
		t.Errorf("effect %+v, lift %+v", effect, lift)
	}
	counts := reading{
		sum: chosen.check.sum(0, 0) / math.Sqrt(chosen.balanceNoise[0]), information: chosen.check.informationOf(0),
		mixing: chosen.checkMixing[0],
	}
	if got, want := chosen.logBalance(), counts.logE()-priceOfClock; got > want {
		t.Errorf("balance: ln e is %g, above %g", got, want)
	}
	away := math.Sqrt(chosen.state[spread]) + math.Sqrt(2*chosen.start.log*chosen.state[shifted])
	_, noise := chosen.second(1, 0.1)
	want := s.secondNoise(0.1) * away * away / (50 * 100 * 50 * 100)
	if math.Abs(noise/want-1) > 1e-9 || chosen.state[shifted] <= 0 {
		t.Errorf("the guard is for a variance of %g, want %g", noise, want)
	}
}

// TestWider checks the widths of chosen starts beside those of looks without noise, and that later starts cost less.
func TestWider(t *testing.T) {
	const looks = 300
	for _, c := range []struct{ rate, draws float64 }{{0.5, 1}, {0.02, 1}, {0.02, 12.6}} {
		before := math.Inf(1)
		for _, ahead := range []uint64{1, 20, 100, 2000} {
			s, width := noisier(c.rate, 100, c.draws), [2]float64{}
			s.Start, s.Announced = 20000+ahead, 20000
			x := New(s)
			for i, announced := range []uint64{0, 20000} {
				x.Restart(s.Start, announced)
				arms := []Arm{{50, 100*c.rate - 50, 0}, {50, 100*c.rate - 50, 0}} // no effect, without noise
				for range looks {
					x.Take(arms)
				}
				width[i] = x.effect(1).halfWidth(s.alpha())
			}
			got, want := s.Wider(looks), width[1]/width[0]
			if math.Abs(got/want-1) > 1e-6 || got > before || got < 1 || ahead == 2000 && got > 1.02 {
				t.Errorf("%+v, %d ahead: %g times as wide, want %g, below %g", c, ahead, got, want, before)
			}
			before = got
		}
	}
}
