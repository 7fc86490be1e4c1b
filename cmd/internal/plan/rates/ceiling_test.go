package rates

import (
	"math"
	"strings"
	"testing"

	"oriel/mechanisms"
	"oriel/mechanisms/contribution"
	"oriel/mechanisms/steps"
	"oriel/operators"
	"oriel/operators/description"
)

// damped is an operator whose decisions damp noise.
type damped struct{ operators.Operator }

func (damped) Describe(mechanisms.Config) description.Figures {
	return description.Figures{Damping: &description.Damping{Start: 1}}
}

// TestWhatOneStreamTakes checks that the figures are within a tenth of the measured ones. It covers rates that fit and
// rates that do not. The batch that plan suggests must fit, and half of it must not. The slower of decoding and
// learning must decide.
func TestWhatOneStreamTakes(t *testing.T) {
	at := func(name string, numbers int, batch uint64, rate float64) *Ceiling {
		c := mechanisms.Config{Batch: batch, Contribution: contribution.OneComponent(numbers, 1)}
		return CeilingOf(name, c, damped{}, rate, steps.Clock{})
	}
	for _, measured := range []struct {
		name    string
		numbers int
		batch   uint64
		micro   float64
	}{
		{"coco", 32, 1, 3.62},
		{"coco", 32, 64, 1.03},
		{"coco", 32, 4096, 0.97},
		{"aggregate", 144, 1, 15.5},
		{"aggregate", 144, 64, 0.83},
		{"aggregate", 144, 4096, 0.60},
	} {
		c := at(measured.name, measured.numbers, measured.batch, 1000)
		if got := 1e6 / float64(c.EventsPerSecond); got < 0.9*measured.micro || got > 1.1*measured.micro || !c.Fits {
			t.Errorf("%+v: %g µs, fits %v", measured, got, c.Fits)
		}
	}
	for _, c := range []struct {
		batch uint64
		rate  float64
		says  string
	}{
		{64, 500_000, ": 500000 fit"},
		{1, 500_000, "ORIEL_BATCH=4 makes them fit"},
		{64, 1_100_000, "ORIEL_STREAM=partition divides the work"},
	} {
		said := at("coco", 32, c.batch, c.rate)
		if !strings.Contains(said.String(), c.says) {
			t.Errorf("%q is not said: %s", c.says, said.String())
		}
		if b := said.Batch; b > 0 && (!at("coco", 32, b, c.rate).Fits || at("coco", 32, b/2, c.rate).Fits) {
			t.Errorf("a batch of %d fits, or half of it does", b)
		}
	}
	slow := pace{decode: 3e-6, event: 1e-6, number: 1e-6}
	if few, many := slow.seconds(8, 1), slow.seconds(8, 64); few != 9e-6 || many != 3e-6 {
		t.Errorf("events that take 3 µs to decode: %g s where learning takes 9 µs, %g s where it takes 1.1 µs", few, many)
	}
	if at("coco", 32, 1, 0) != nil || at("sets", 32, 1, 10) != nil {
		t.Error("a ceiling without a rate, or of an operator that was not measured")
	}
}

// TestWhatOneStreamTakesByTheClock checks the rate against the time that events and numbers of a step take together.
// The step that plan suggests must fit, and a second less must not.
func TestWhatOneStreamTakesByTheClock(t *testing.T) {
	at := func(numbers int, seconds int64, rate float64) *Ceiling {
		c := mechanisms.Config{Contribution: contribution.OneComponent(numbers, 1)}
		return CeilingOf("aggregate", c, damped{}, rate, steps.Clock{Length: seconds})
	}
	for _, c := range []struct {
		numbers int
		seconds int64
	}{{16, 3600}, {1_000_000, 1}, {10_000_000, 60}} {
		most := float64(at(c.numbers, c.seconds, 1).EventsPerSecond)
		busy := float64(c.seconds)*most*0.60e-6 + float64(c.numbers)*103e-9
		if math.Abs(busy/float64(c.seconds)-1) > 1e-9 {
			t.Errorf("%+v: %g events a second take %g s a step", c, most, busy)
		}
	}
	said := at(10_000_000, 1, 500_000)
	if said.Fits || said.Batch != 0 || said.Step < 2 || !at(10_000_000, int64(said.Step), 500_000).Fits ||
		at(10_000_000, int64(said.Step)-1, 500_000).Fits ||
		!strings.Contains(said.String(), "ORIEL_STEP of 2 s or more makes them fit") {
		t.Errorf("%+v: %s", said, said.String())
	}
	never := at(16, 1, 2_000_000).String()
	if !strings.Contains(never, "do not, whatever ORIEL_STEP") || strings.Contains(never, "ORIEL_BATCH") {
		t.Error(said)
	}
	work := WorkOf("aggregate", mechanisms.Config{Contribution: contribution.OneComponent(1000, 1)}, damped{}, 100)
	if got, want := float64(work.Seconds(3600, 3600)), 3600*1000*103e-9+360_000*0.60e-6; math.Abs(got/want-1) > 1e-9 {
		t.Errorf("an hour takes %g s, want %g", got, want)
	}
	one := mechanisms.Config{Contribution: contribution.OneComponent(1, 1)}
	if none := WorkOf("sets", one, damped{}, 1).Seconds(1, 1); none.Known() {
		t.Errorf("an operator that was not measured takes %g s", none)
	}
	if s := StreamsOf(mechanisms.Config{}, Partitions{Count: 2, Rate: 1, Clock: steps.Clock{Length: 1}}); s != nil {
		t.Errorf("steps by the clock last as long in any stream: %+v", s)
	}
}
