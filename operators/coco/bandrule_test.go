package coco

import (
	"math"
	"math/rand/v2"
	"testing"

	"oriel/mechanisms"
	"oriel/mechanisms/mechtest"
	"oriel/operators"
	"oriel/schemas/event"
)

// TestBandShown checks that the end of a band is a bounded, increasing function of z, and that the ends of a band never
// cross.
func TestBandShown(t *testing.T) {
	c, _ := banded(t, 64, 1)
	rule := newBandRule(c)
	if want := 2 * (1 + beyond); rule.most != want || rule.least != -want || rule.share != 0.125 {
		t.Fatalf("%+v", rule)
	}
	before := math.Inf(-1)
	for z := -9.0; z <= 9; z += 1.0 / 64 {
		u := rule.end(z)
		want := min(max(0.1*math.Sinh(z), rule.least), rule.most)
		if math.Abs(u-want) > 1e-12 || u < before || z >= rule.cutoff && u < 2 || z <= -rule.cutoff && u > -2 {
			t.Fatalf("at %g: %g after %g, want %g", z, u, before, want)
		}
		before = u
	}
	for _, x := range []struct{ u, l, high, low float64 }{
		{0.5, 0.25, 0.5, -0.25},
		{rule.most, rule.most, rule.most, -rule.most},
		{rule.least, rule.least, rule.least, rule.least}, // the band is below all labels
		{0.5, -0.75, 0.5, 0.5},
		{-0.5, 0.75, -0.5, -0.75},
	} {
		shown := []float64{x.u, x.l}
		rule.uncross(shown)
		low, high := rule.ends(shown)
		if low != x.low || high != x.high {
			t.Errorf("%+v: band from %g to %g", x, low, high)
		}
		for _, y := range []float64{-1, -0.5, 0, 0.5, 1} {
			e := event.Event{Vector: event.Vector{Values: []float64{0, 0}}, Label: y, Weight: 1}
			want := -1
			switch {
			case y > high:
				want = 0
			case y < low || low == high:
				want = 1
			}
			if got := rule.miss(shown, []float64{0, 0}, e); got != want {
				t.Errorf("%+v, label %g: column %d, want %d", x, y, got, want)
			}
		}
	}
	sets := c
	sets.Loss, sets.Band.Labels = mustLoss(t, "logistic"), operators.Range{}
	rule = newBandRule(sets)
	for _, x := range []struct {
		q, z float64
		want int
	}{
		{0.5, 0, -1}, {0.49, 0, 0}, {0.7, -0.8, -1}, {0.68, -0.8, 0}, {1, -1, -1}, {5, -1, -1}, {0, 1, 0}, {-3, 1, 0},
	} {
		e := event.Event{Vector: event.Vector{Values: []float64{x.z, 0}}, Label: 1, Weight: 1}
		if got := rule.miss([]float64{rule.end(4 * x.q)}, []float64{1, 0}, e); got != x.want {
			t.Errorf("%+v: column %d", x, got)
		}
	}
}

// TestMeansOfABandFollow checks that the mean z̄ follows z, and that a public end is computed from a value at most
// nearest away from z, unless the ends would cross.
func TestMeansOfABandFollow(t *testing.T) {
	c, m := banded(t, 64, 1)
	machine := newMachine(t, c, m, mechtest.Planted(t, m, mechtest.Plan(t, m), mechtest.Zero{}))
	b := machine.band
	for i := range 800 {
		r := record(i, event.Event{})
		r.Null = true
		machine.Add(nil, r)
		for k, z := range b.ends {
			high, low := b.rule.end(z+nearest), b.rule.end(z-nearest)
			if b.shown[k] > high && b.shown[k] > -b.shown[1-k] || b.shown[k] < low {
				t.Fatalf("step %d: %g shown for z = %g", i, b.shown[k], z)
			}
		}
	}
	for _, far := range []float64{-5, 5} {
		kept := b.means[0]
		b.means[0] = b.ends[0] + far
		if b.show(); b.shown[0] != b.rule.end(b.ends[0]+math.Copysign(nearest, far)) {
			t.Errorf("%g shown where a mean is %g beyond z = %g", b.shown[0], far, b.ends[0])
		}
		b.means[0] = kept
	}
	// z falls by ηs at each step, and the mean of z lags by (1 − κ)/κ steps.
	if behind, want := b.means[0]-b.ends[0], b.rule.rate*b.rule.share*(1-b.pace)/b.pace; math.Abs(behind/want-1) > 0.5 {
		t.Errorf("a mean is %g behind, want %g", behind, want)
	}
}

// bandedOrNot returns a learner of 32 coordinates with lifetime privacy, and its mechanism. If level is 0 the learner
// has no band.
func bandedOrNot(t testing.TB, name string, level float64) (Config, mechanisms.Config) {
	t.Helper()
	c := sample(t, "l2-ball", 32)
	c.Loss, c.FeaturesMax, c.StartRegularizer = mustLoss(t, name), 1, 50
	if level > 0 {
		c.Band = Band{Level: level, Weight: 0.3, Step: 0.002}
		if !c.predictsSets() {
			c.Band.Labels = operators.Range{Low: -2, High: 2}
		}
	}
	return c, required(t, c, remembering(c, 65_536, 1))
}

func TestAddWithABandDoesNotAllocate(t *testing.T) {
	for _, name := range []string{"squared", "logistic"} {
		c, m := bandedOrNot(t, name, 0.9)
		machine := open(t, c, m, 1)
		e := event.Event{Vector: event.Vector{Values: direction(rand.New(rand.NewPCG(1, 1)), 32, 1)}, Label: 1, Weight: 1}
		dst, i := make([]operators.Decision, 0, 1), 0
		if n := testing.AllocsPerRun(512, func() { dst = machine.Add(dst[:0], record(i, e)); i++ }); n != 0 {
			t.Errorf("%s: %g allocations, want 0", name, n)
		}
	}
}
