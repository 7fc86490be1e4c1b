package band

import (
	"math"
	"testing"

	"oriel/mechanisms/mechtest"
	"oriel/operators"
	"oriel/operators/setting"
	"oriel/schemas/event"
)

// TestBandShown checks that the end of a band is a bounded, increasing function of z, and that the ends of a band never
// cross.
func TestBandShown(t *testing.T) {
	c, _ := banded(t, 64, 1)
	rule := c.rule()
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
	sets.loss, sets.Labels = mustLoss(t, "logistic"), setting.Range{}
	rule = sets.rule()
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
	machine := newMachine(t, c, mechtest.Planted(t, m, mechtest.Plan(t, m), mechtest.Zero{}))
	counted := operators.ByCount(machine)
	b := machine.band
	for i := range 800 {
		r := record(i, event.Event{})
		r.Null = true
		counted.Add(nil, r)
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

// TestMaxErrorOfABand checks that decisions publish the error bound of PROOF.md, claim 5, and 1 while few events have
// come.
func TestMaxErrorOfABand(t *testing.T) {
	for _, sets := range []bool{false, true} {
		c, m := banded(t, 64, 3)
		far, start, columns := math.Asinh(2*(1+beyond)/0.1), 1.8, 2.0
		if sets {
			c, m = setsOfLabels(t, 64, 3)
			far, start, columns = 4, 3, 1
		}
		machine := newMachine(t, c, mechtest.Open(t, m, [32]byte{2}))
		rule := machine.band.rule
		if got, want := rule.maxOffset(), max(far-start, start)+1+3; math.Abs(got-want) > 1e-12 {
			t.Errorf("sets %v: z is %g from its anchor at most, want %g", sets, got, want)
		}
		for _, step := range []uint64{1, 1000, 5000, 1e6, 1e9} {
			noise := math.Sqrt(2*math.Log(columns*float64(step)/0.05)) * machine.band.noise.at(step)
			want := min(1, columns*(rule.maxOffset()/c.Step+3+noise)/(3*float64(step)))
			if got := machine.band.rule.maxError(step, 3, machine.band.noise); math.Abs(got/want-1) > 1e-12 {
				t.Errorf("sets %v, step %d: %g, want %g", sets, step, got, want)
			}
		}
		if got := machine.band.rule.maxError(0, 3, machine.band.noise); got != 1 {
			t.Errorf("before the first step: %g", got)
		}
	}
}
