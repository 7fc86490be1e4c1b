package ridge

import (
	"math"
	"strings"
	"testing"

	"oriel/mechanisms/mechtest"
	"oriel/mechanisms/noise"
	"oriel/operators"
	"oriel/operators/optest"
	"oriel/schemas/decision"
	"oriel/schemas/event"
)

// played returns copies of the decisions for events; a nil event is a null record.
func played(t *testing.T, m *Machine, events []*event.Event) (decisions []operators.Decision) {
	counted := operators.ByCount(m)
	t.Helper()
	for i, e := range events {
		r := operators.Record{Identity: noise.Identity{Offset: int64(i)}, Null: e == nil}
		if e != nil {
			r.Event = *e
		}
		for _, d := range counted.Add(nil, r) {
			d.Point = append([]float64{}, d.Point...)
			d.Extras = append([]decision.ExtraValue{}, d.Extras...)
			decisions = append(decisions, d)
		}
	}
	return decisions
}

// lines returns a stream of events with 8 features.
func lines(count int) (events []*event.Event) {
	for _, e := range drawn(count, 8, 21) {
		events = append(events, &e)
	}
	return events
}

// TestDoublingsAreRare checks that, with a shift equal to the edge of the noise's spectrum, nearly every released
// matrix has a factor without doubling, from the first step on. Without a shift, nearly none of the first matrices has
// a factor.
func TestDoublingsAreRare(t *testing.T) {
	for _, x := range []struct {
		shift             string
		least, maxWeights float64
	}{{"1", 0, 5}, {"1.5", 0, 0}, {"0", 20, math.Inf(1)}} {
		m := optest.Life(1024)
		m.Budget.Epsilon = 1
		c, m := config(t, m, "UPDATE=moments", "DIMENSION=8", "LABEL_RANGE=-1:1", "START_REGULARIZER=0",
			"NOISE_SHIFT="+x.shift)
		machine, err := newMachine(c, mechtest.Open(t, m, [32]byte{8}))
		if err != nil {
			t.Fatal(err)
		}
		all := played(t, machine, lines(3200))
		last := all[len(all)-1].Extras
		if n := machine.members.doublings.Of(last); len(all) != 200 || n < x.least || n > x.maxWeights {
			t.Errorf("shift %s: %g doublings in %d decisions", x.shift, n, len(all))
		}
		shift := machine.members.shift
		if first, now := shift.Of(all[0].Extras), shift.Of(last); x.shift == "1.5" && first != now {
			t.Errorf("the shift goes from %g to %g", first, now)
		}
	}
}

// TestWeightsFadeWithTheEvents checks a stream whose events become rare. With a memory the events' weight decays, while
// the noise and the shift do not change. The weights must approach the weights of noise without data, which the shift
// damps.
func TestWeightsFadeWithTheEvents(t *testing.T) {
	m := optest.Life(256)
	m.Budget.Epsilon = 40
	c, m := config(t, m, "UPDATE=moments", "DIMENSION=8", "LABEL_RANGE=-1:1")
	machine, err := newMachine(c, mechtest.Open(t, m, [32]byte{8}))
	if err != nil {
		t.Fatal(err)
	}
	size := func(d operators.Decision) (square float64) {
		for _, x := range d.Point {
			square += x * x
		}
		return math.Sqrt(square)
	}
	all := played(t, machine, append(lines(1024), make([]*event.Event, 8192)...))
	learned := size(all[63])
	if learned < 0.2 {
		t.Fatalf("weights of norm %g: nothing is learned", learned)
	}
	for i, d := range all[448:] {
		if s := machine.members.shift.Of(d.Extras); s != machine.members.shift.Of(all[0].Extras) {
			t.Fatalf("decision %d: the shift is %g", i, s)
		}
		if size(d) > learned {
			t.Fatalf("decision %d without events has weights of norm %g, of data %g", i, size(d), learned)
		}
	}
}

// TestPlanDescribesOnlyShifts checks that the plan describes a shift and its doublings only if there is a shift: raised
// eigenvalues need none.
func TestPlanDescribesOnlyShifts(t *testing.T) {
	for spectrum, want := range map[string]bool{shifted: true, raised: false} {
		c, m := config(t, optest.Life(1024), "UPDATE=moments", "DIMENSION=8", "LABEL_RANGE=-1:1", "SPECTRUM="+spectrum)
		if text := c.Describe(m).Steps; text == "" || strings.Contains(text, "shift") != want {
			t.Errorf("SPECTRUM=%s: %q", spectrum, text)
		}
	}
}

// TestDecisionsAreFiniteAtTheEndsOfSettings checks that, with settings at the ends of their ranges, every number of a
// decision is finite, so that it can be encoded. An infinite deviation must become the largest float64.
func TestDecisionsAreFiniteAtTheEndsOfSettings(t *testing.T) {
	for _, more := range [][]string{
		{"UPDATE=innovation", "RESIDUAL_MAX=1e12", "GAIN=0", "START_REGULARIZER=1e-310", "FEATURES_MAX=1e-12"},
		{"UPDATE=innovation", "RESIDUAL_MAX=1", "GAIN=1e9", "START_REGULARIZER=1e-300", "NOISE_SHIFT=0"},
		{"UPDATE=innovation", "RESIDUAL_MAX=1", "GAIN=0"},
		{"UPDATE=moments", "START_REGULARIZER=1e-310", "NOISE_SHIFT=0", "FEATURES_MAX=1e-12", "LABEL_SHARE=0.001"},
		{"UPDATE=moments", "START_REGULARIZER=1e12", "STRONG_CONVEXITY=1e12", "NOISE_SHIFT=1000", "WEIGHTS_MAX=1e6"},
		{"UPDATE=moments", "START_REGULARIZER=0", "NOISE_SHIFT=0", "SPECTRUM=raise"},
	} {
		for _, noisy := range []bool{false, true} {
			c, m := config(t, optest.Life(16), append(more, "DIMENSION=8", "LABEL_RANGE=-1e12:1e12", "EMIT_EVERY=1")...)
			stream := mechtest.ZeroStream(t, m)
			if noisy {
				stream = mechtest.Open(t, m, [32]byte{4})
			}
			machine, err := newMachine(c, stream)
			if err != nil {
				t.Fatal(err)
			}
			for i, d := range played(t, machine, append(make([]*event.Event, 2), lines(20)...)) {
				for _, x := range append(append([]float64{
					machine.members.residual.Of(d.Extras), machine.members.shift.Of(d.Extras), machine.members.doublings.Of(d.Extras),
				}, d.Point...), machine.members.deviation.Of(d.Extras)...) {
					if !(math.Abs(x) <= math.MaxFloat64) {
						t.Fatalf("%v, noise %t: decision %d is %v, %+v", more, noisy, i, d.Point, d.Extras)
					}
				}
			}
		}
	}
}
