package ridge

import (
	"math"
	"strings"
	"testing"

	"oriel/mechanisms/mechtest"
	"oriel/mechanisms/noise"
	"oriel/operators"
	"oriel/schemas"
)

// played gives the decisions of events, null where an event is nil, copied.
func played(t *testing.T, m *Machine, events []*schemas.Event) (decisions []operators.Decision) {
	t.Helper()
	for i, e := range events {
		r := operators.Record{Identity: noise.Identity{Offset: int64(i)}, Null: e == nil}
		if e != nil {
			r.Event = *e
		}
		for _, d := range m.Add(nil, r) {
			d.Point = append([]float64{}, d.Point...)
			d.Extras = append([]schemas.ExtraValue{}, d.Extras...)
			decisions = append(decisions, d)
		}
	}
	return decisions
}

// lines is a stream of 8 features.
func lines(count int) (events []*schemas.Event) {
	for _, e := range drawn(count, 8, 21) {
		events = append(events, &e)
	}
	return events
}

// With a shift of the edge of the noise's spectrum nearly every released matrix has a factor at once, from the first
// step on; without a shift nearly none of the first has.
func TestDoublingsAreRare(t *testing.T) {
	for _, x := range []struct {
		shift       string
		least, most float64
	}{{"1", 0, 5}, {"1.5", 0, 0}, {"0", 20, math.Inf(1)}} {
		m := life(1024)
		m.Budget.Epsilon = 1
		c, m := config(t, m, "UPDATE=moments", "DIMENSION=8", "LABEL_RANGE=-1:1", "START_REGULARIZER=0",
			"NOISE_SHIFT="+x.shift)
		machine, err := newMachine(c, mechtest.Open(t, m, [32]byte{8}))
		if err != nil {
			t.Fatal(err)
		}
		all := played(t, machine, lines(3200))
		last := all[len(all)-1].Extras
		if n := last[atDoublings].Number; len(all) != 200 || n < x.least || n > x.most {
			t.Errorf("shift %s: %g doublings in %d decisions", x.shift, n, len(all))
		}
		if first, now := all[0].Extras[atShift].Number, last[atShift].Number; x.shift == "1.5" && first != now {
			t.Errorf("the shift goes from %g to %g", first, now)
		}
	}
}

// Where events thin out, a memory forgets them while the noise stays: the shift stays too, and so weights fade to what
// noise alone has, which the shift damps.
func TestWeightsFadeWithTheEvents(t *testing.T) {
	m := life(256)
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
	all := played(t, machine, append(lines(1024), make([]*schemas.Event, 8192)...))
	learned := size(all[63])
	if learned < 0.2 {
		t.Fatalf("weights of norm %g: nothing is learned", learned)
	}
	for i, d := range all[448:] {
		if s := d.Extras[atShift].Number; s != all[0].Extras[atShift].Number {
			t.Fatalf("decision %d: the shift is %g", i, s)
		}
		if size(d) > learned {
			t.Fatalf("decision %d without events has weights of norm %g, of data %g", i, size(d), learned)
		}
	}
}

// People are told of a shift and its doublings where there is one: raised eigenvalues need none.
func TestOnlyShiftsAreToldOf(t *testing.T) {
	for spectrum, want := range map[string]bool{shifted: true, raised: false} {
		c, m := config(t, life(1024), "UPDATE=moments", "DIMENSION=8", "LABEL_RANGE=-1:1", "SPECTRUM="+spectrum)
		if text := c.Describe(m).Steps; text == "" || strings.Contains(text, "shift") != want {
			t.Errorf("SPECTRUM=%s: %q", spectrum, text)
		}
	}
}
