package band

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"oriel/mechanisms/lattice"
	"oriel/mechanisms/mechtest"
	"oriel/operators"
	"oriel/schemas/event"
)

// TestABandStaysWhileAStepIsOpen checks that all events of a step are compared with the band that was published before
// the step. If an event could move the band within its step, it would change the marks of later events. A restart must
// not move the band either.
func TestABandStaysWhileAStepIsOpen(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 33))
	for _, memory := range []uint64{0, 8} {
		for _, sets := range []bool{false, true} {
			c, m := banded(t, memory, 5)
			if sets {
				c, m = setsOfLabels(t, memory, 5)
			}
			c.Step = 0.1
			machine := newMachine(t, c, mechtest.Open(t, m, [32]byte{3}))
			counted := operators.ByCount(machine)
			published := slices.Clone(machine.band.shown)
			moves := 0
			for i := range 200 {
				r := record(i, event.Event{
					Vector: event.Vector{Values: direction(rng, 1)}, Label: float64(1 - i/5%2*2), Weight: 1,
				})
				made := counted.Add(nil, r)
				if i%7 == 0 {
					other := newMachine(t, c, mechtest.Open(t, m, [32]byte{3}))
					if err := other.Restore(machine.AppendState(nil)); err != nil {
						t.Fatal(err)
					}
					if !slices.Equal(other.band.shown, machine.band.shown) {
						t.Fatalf("record %d: a restart moves the band from %v to %v", i, machine.band.shown, other.band.shown)
					}
				}
				if len(made) == 0 {
					if !slices.Equal(machine.band.shown, published) {
						t.Fatalf("record %d moved the band from %v to %v within its step", i, published, machine.band.shown)
					}
					continue
				}
				extras := made[0].Extras
				low, high := extras[len(extras)-4].Number, extras[len(extras)-3].Number
				if l, h := machine.band.rule.ends(machine.band.shown); l != low || h != high {
					t.Fatalf("record %d: the next events are held against %g to %g, published is %g to %g", i, l, h, low, high)
				}
				if !slices.Equal(machine.band.shown, published) {
					moves++
				}
				published = slices.Clone(machine.band.shown)
			}
			if moves < 15 {
				t.Errorf("memory %d, sets %v: the band moved at %d of 40 steps", memory, sets, moves)
			}
		}
	}
}

// TestDeviationOfTotalsIsOfMarks checks that the deviation of totals comes from the noise of marks and not of
// gradients. With a memory, its square must be at least the variance of all complete blocks plus a window of the
// remaining steps.
func TestDeviationOfTotalsIsOfMarks(t *testing.T) {
	for _, memory := range []uint64{0, 8} {
		c, m := banded(t, memory, 1)
		c.Weight = 0.1
		m = c.required(m)
		machine := newMachine(t, c, mechtest.Open(t, m, [32]byte{4}))
		noise, stream := machine.band.noise, machine.Stream
		if memory == 0 {
			d, err := stream.Deviation(Component, 0)
			if err != nil || noise.at(5) != d.Worst() {
				t.Errorf("deviation %g, want %g (%v)", noise.at(5), d.Worst(), err)
			}
			continue
		}
		variance := func(steps uint64) float64 { return math.Pow(stream.WindowDeviation(Component, steps), 2) }
		period := noise.period
		for _, step := range []uint64{1, 2, 3, 4, 5, 9, period - 1, period, period + 1, 2*period + 3, 5*period - 1} {
			blocks, rest := float64(step/period), step%period
			least, longer := blocks*variance(period), blocks*variance(period)
			if rest > 0 {
				least, longer = least+variance(rest), longer+variance(2*rest)
			}
			if got := math.Pow(noise.at(step), 2); got < least*(1-1e-12) || got > longer*(1+1e-12) {
				t.Errorf("step %d: variance %g, want %g to %g", step, got, least, longer)
			}
		}
	}
}

// TestAnchorsBringMissesBack checks that misses return to the expected number when labels are much closer to
// predictions than the first ends. With anchors that stay at z_1, (z − z_1)/η misses are missing for ever.
func TestAnchorsBringMissesBack(t *testing.T) {
	for _, sets := range []bool{false, true} {
		c, m := banded(t, 64, 4)
		if sets {
			c, m = setsOfLabels(t, 64, 4)
		}
		c.Step = 1.0 / 64
		plan := mechtest.Plan(t, m)
		anchored := newMachine(t, c, mechtest.Planted(t, m, plan, mechtest.Zero{}))
		countedAnchored := operators.ByCount(anchored)
		fixed := newMachine(t, c, mechtest.Planted(t, m, plan, mechtest.Zero{}))
		countedFixed := operators.ByCount(fixed)
		fixed.band.lean = 0
		for _, m := range []*machine{anchored, fixed} { // predictions are 0, or those of a class are as sure as they can be
			m.path = func(uint64) (x [2]float64) {
				if sets {
					x[0] = 1
				}
				return x
			}
		}
		rng := rand.New(rand.NewPCG(1, 34))
		for i := range 24_000 {
			e := event.Event{Vector: event.Vector{Values: direction(rng, 1)}, Label: 0.02 * rng.Float64(), Weight: 1}
			if sets {
				e.Label = math.Copysign(1, e.Vector.Values[0])
			}
			countedAnchored.Add(nil, record(i, e))
			countedFixed.Add(nil, record(i, e))
		}
		for column := range anchored.columns {
			got, before := anchored.band.excess(column, anchored.Steps()), fixed.band.excess(column, fixed.Steps())
			if math.Abs(got) > 25 || math.Abs(before) < 50 {
				t.Errorf("sets %v, column %d: misses are %g from what is to be, with fixed anchors %g", sets, column, got, before)
			}
		}
	}
}

// TestAnchorsHaveBounds checks that anchors stay within their bounds for any number of misses.
func TestAnchorsHaveBounds(t *testing.T) {
	c, m := banded(t, 64, 1)
	b := newMachine(t, c, mechtest.Open(t, m, [32]byte{3})).band
	for _, misses := range []float64{1e9, -1e9} {
		b.folded[0] = misses
		b.follow(1)
		if want := firstEnd + math.Copysign(anchorLeeway, misses); b.anchors[0] != want {
			t.Errorf("%g misses: an anchor at %g, want %g", misses, b.anchors[0], want)
		}
	}
}

// TestRestoreRefusesAnchorsBeyondTheirBounds checks that a state with anchors beyond their bounds is refused, because
// no machine writes one.
func TestRestoreRefusesAnchorsBeyondTheirBounds(t *testing.T) {
	c, m := banded(t, 64, 1)
	machine := newMachine(t, c, mechtest.Open(t, m, [32]byte{3}))
	state := machine.AppendState(nil)
	if err := newMachine(t, c, mechtest.Open(t, m, [32]byte{3})).Restore(state); err != nil {
		t.Fatal(err)
	}
	for _, far := range []float64{firstEnd - anchorLeeway - 1, firstEnd + anchorLeeway + 1, math.NaN()} {
		binary.LittleEndian.PutUint64(state[len(state)-8:], math.Float64bits(far))
		if err := newMachine(t, c, mechtest.Open(t, m, [32]byte{3})).Restore(state); err == nil {
			t.Errorf("an anchor at %g was restored", far)
		}
	}
}

// TestNoSequencePassesTheBoundOfASet checks that the misses of a set are within Y/η + B, the bound without noise, for
// adversarial sequences.
func TestNoSequencePassesTheBoundOfASet(t *testing.T) {
	for name, label := range map[string]func(i int, f float64) float64{
		"the predicted one": func(_ int, f float64) float64 { return math.Copysign(1, f) },
		"the other one":     func(_ int, f float64) float64 { return math.Copysign(1, -f) },
		"in turns, at rest first": func(i int, f float64) float64 {
			return math.Copysign(1, f) * float64(1-i/2500%2*2)
		},
	} {
		c, m := setsOfLabels(t, 64, 1)
		c.Step = 1.0 / 32
		machine := newMachine(t, c, mechtest.Planted(t, m, mechtest.Plan(t, m), mechtest.Zero{}))
		counted := operators.ByCount(machine)
		rng := rand.New(rand.NewPCG(1, 35))
		farthest := 0.0
		for i := range 10_000 {
			a := direction(rng, 1)
			y := label(i, lattice.Dot(a, machine.x))
			e := event.Event{Vector: event.Vector{Values: a}, Label: y, Weight: 1}
			counted.Add(nil, record(i, e))
			farthest = max(farthest, math.Abs(machine.band.excess(0, machine.Steps())))
		}
		if most := machine.band.rule.maxOffset()/c.Step + 1; farthest > most {
			t.Errorf("%s: misses are %g from what is to be, at most %g", name, farthest, most)
		}
	}
}
