package experiment

import (
	"testing"

	"oriel/mechanisms/mechtest/tiertest"
)

// TestWidthsBesideThoseWithoutPrivacy checks widths at ε = 1 and 100 000 events. A sequence must be at most 1.1 times
// as wide as the sequence of the same outcomes without privacy and with a known variance, and at most 1.2 times if the
// conversion rate is 2 %. It covers a horizon and lifetime privacy, with a right and a wrong Near.
func TestWidthsBesideThoseWithoutPrivacy(t *testing.T) {
	const events = 100_000
	runs := tiertest.Runs(1, 200)
	for _, c := range []struct{ p, near, most float64 }{
		{0.5, 0.5, 1.02},
		{0.1, 0.1, 1.06},
		{0.05, 0.05, 1.1},
		{0.02, 0.02, 1.2},
		{0.05, 0.08, 1.1},
		{0.1, 0.03, 1.1},
		{0.1, 0.2, 1.1},
	} {
		for name, noise := range map[string]*Noise{"horizon": horizon1000(), "life": memory1024()} {
			s := halves(c.near, 100)
			s.Noise = *noise
			x, arms := New(s), make([]Arm, 2)
			fresh := append([]float64(nil), x.State()...)
			mean := 0.0
			for seed := range runs {
				copy(x.State(), fresh)
				src := newSource(&s, uint64(seed), constant(c.p))
				for range int(events / s.Events) {
					src.step(arms)
					x.Take(arms)
				}
				mean += x.effect(1).halfWidth(s.Alpha) / float64(runs)
			}
			variance := 4 * (c.p*(1-c.p) + (c.p-c.near)*(c.p-c.near))
			without := reading{information: events / variance, mixing: mixing(s.Target/variance, s.Alpha)}
			ratio := mean / without.radius(s.Alpha)
			t.Logf("%s, p = %g, near %g: %.3f", name, c.p, c.near, ratio)
			if ratio > c.most {
				t.Errorf("%s, p = %g, near %g: %g times as wide as without privacy, above %g", name, c.p, c.near, ratio, c.most)
			}
		}
	}
}
