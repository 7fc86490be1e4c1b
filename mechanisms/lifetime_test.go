package mechanisms_test

import (
	"bytes"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"oriel/mechanisms"
	"oriel/mechanisms/dp"
	"oriel/mechanisms/mechtest"
	"oriel/mechanisms/noise"
	"oriel/mechanisms/protection"
)

// TestStreamEndsAtItsHorizon checks that a stream with a horizon stops there, and refuses a state of a later step.
// Calibration and releases must equal a stream's without a horizon.
func TestStreamEndsAtItsHorizon(t *testing.T) {
	endless := batched(t) // a stream without an end: W = 4, B = 3
	c, h := endless, records(13, 3)
	c.Scope = protection.Lifetime{Steps: 3, Within: 4}
	if !reflect.DeepEqual(mechtest.Plan(t, c), mechtest.Plan(t, endless)) {
		t.Error("the horizon changes the calibration")
	}
	key := [32]byte{4}
	stream, other := mechtest.ByCount(mechtest.Open(t, c, key)), mechtest.ByCount(mechtest.Open(t, endless, key))
	if stream.End() != 3 || other.End() != protection.Endless {
		t.Errorf("the ends are %d and %d", stream.End(), other.End())
	}
	for i := range 9 {
		if stream.Add(h.ids[i], h.gradients[i]) != other.Add(h.ids[i], h.gradients[i]) ||
			!slices.Equal(stream.Sum(0), other.Sum(0)) {
			t.Fatalf("record %d: the horizon changes a release", i)
		}
	}
	last := stream.AppendState(nil)
	if err := mechtest.ByCount(
		mechtest.Open(t, c, key),
	).Restore(
		last,
	); err != nil ||
		!bytes.Equal(last, other.AppendState(nil)) {
		t.Errorf("the last state: %v", err)
	}
	for range 4 {
		for !other.Add(h.ids[9], h.gradients[9]) {
		}
		if err := stream.Restore(other.AppendState(nil)); err == nil ||
			!strings.Contains(err.Error(), "beyond the horizon of 3 steps") {
			t.Errorf("a state of step %d: %v", other.Step(), err)
		}
		if !bytes.Equal(stream.AppendState(nil), last) {
			t.Error("a refused state changes the stream")
		}
	}
	defer func() {
		if r, _ := recover().(string); !strings.HasPrefix(r, "BUG: mechanisms: a record beyond the horizon") {
			t.Errorf("a record beyond the horizon: %q", r)
		}
		if !bytes.Equal(stream.AppendState(nil), last) {
			t.Error("a refused record changes the stream")
		}
	}()
	stream.Add(h.ids[9], h.gradients[9])
}

// TestStateOfASumStartsWithItsStep checks that every sum's state starts with the step, because Restore reads the step
// before it changes anything.
func TestStateOfASumStartsWithItsStep(t *testing.T) {
	for _, name := range mechanisms.Names() {
		stream := mechtest.ByCount(mechtest.Open(t, config(name, 3), [32]byte{1}))
		for range 5 {
			stream.Add(noise.Identity{}, []float64{1, 0, 0})
		}
		state := stream.AppendState(nil)
		state = state[len(state)-mechanisms.LastSumLen(stream.Stream):]
		if !bytes.Equal(state[:8], []byte{5, 0, 0, 0, 0, 0, 0, 0}) {
			t.Errorf("%s: state of step 5 starts with %x", name, state[:8])
		}
	}
}

// TestHorizonMakesTheGuaranteeOneForEver checks that if the stream ends within the window, the budget covers the
// stream's full life, at event and user level.
func TestHorizonMakesTheGuaranteeOneForEver(t *testing.T) {
	for _, name := range []string{"tree-gaussian", "tree-gamma", "blt"} {
		for _, unit := range []protection.Unit{oneEvent, separated(3)} {
			c := config(name, 3)
			c.Scope, c.Unit = protection.Lifetime{Steps: 6, Within: 8}, unit
			_, several := unit.EventSeparation()
			if several && !hasUsers(name) {
				continue
			}
			g, err := mechtest.Plan(t, c).Guarantee(c)
			if err != nil || g.Terms != c.Terms {
				t.Fatalf("%s: %+v, %v", name, g, err)
			}
			last := g.At(6)
			for _, age := range []uint64{6, 8, 9, 1000, math.MaxUint64} {
				if got := g.At(age); got != last || got.Epsilon > g.Epsilon {
					t.Errorf("%s: ε(%d) = %+v, want %+v", name, age, got, last)
				}
				if several && g.AtAll(age) != last {
					t.Errorf("%s: ε(%d) of all events = %+v, want %+v", name, age, g.AtAll(age), last)
				}
			}
		}
	}
}

// TestPerStepGuaranteeHoldsForEver checks that a once- mechanism releases each step's own contribution sum, under a
// budget that holds for ever: σ = Δ/µ, θ = Δ/ε.
func TestPerStepGuaranteeHoldsForEver(t *testing.T) {
	for _, name := range mechanisms.Names() {
		if got := mechtest.ByCount(
			mechtest.ZeroStream(t, config(name, 3)),
		).PerStep(); got != strings.HasPrefix(
			name,
			"once-",
		) {
			t.Errorf("%s: Once() = %v", name, got)
		}
	}
	for name, scale := range map[string]float64{
		"once-gaussian": 2 / dp.GaussianMu(dp.Budget{Epsilon: 1, Delta: 1e-6}), "once-gamma": 2,
		"once-laplace": math.Ceil(2*math.Sqrt(3)*(1<<24)) / (1 << 24),
	} {
		c := config(name, 3)
		c.Failure = 0.1
		calibration := mechtest.Plan(t, c)
		if got := calibration.Scale.Float64() * calibration.Grid.Unit(); got < scale*(1-1e-15) || got > scale*(1+1e-15) {
			t.Errorf("%s: scale %g, want %g", name, got, scale)
		}
		if b, err := calibration.AppendBinary(nil); err != nil || b[0] != 1 {
			t.Errorf("%s: plan %x, %v, want version 1", name, b, err)
		}
		stream := mechtest.ByCount(mechtest.ZeroStream(t, c))
		for i := range 5 {
			x := []float64{float64(i) / 8, 0, -0.5}
			if !stream.Add(noise.Identity{Offset: int64(i)}, x) || !slices.Equal(stream.Sum(0), x) {
				t.Errorf("%s: release %v of step %v", name, stream.Sum(0), x)
			}
		}
		g := stream.Guarantee()
		for _, age := range []uint64{1, 1000, math.MaxUint64} {
			if g.Scope != (protection.PerStep{}) || g.At(age).Epsilon != 1 || g.AtSpans(age).Epsilon != 1 {
				t.Errorf("%s: at %d: %+v of %+v", name, age, g.At(age), g)
			}
		}
		c.Unit = zeroOut
		half := mechtest.Plan(t, c)
		if got := half.Scale.Float64() * 2; got != calibration.Scale.Float64() {
			t.Errorf("%s: twice the scale under zero-out is %g, want %g", name, got, calibration.Scale.Float64())
		}
	}
}
