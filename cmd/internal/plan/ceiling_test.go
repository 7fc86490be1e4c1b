package plan

import (
	"strings"
	"testing"

	"oriel/mechanisms/contribution"
	"oriel/operators"
)

// TestWhatOneStreamTakes checks that the figures are within a tenth of the measured ones. It covers rates that fit and
// rates that do not. The batch that plan suggests must fit, and half of it must not. The slower of decoding and
// learning must decide.
func TestWhatOneStreamTakes(t *testing.T) {
	at := func(name string, numbers int, batch uint64, rate float64) *Ceiling {
		in := setting{change: func(in *Input) {
			in.Name, in.Rate, in.Configured.Batch = name, rate, batch
			in.Configured.Contribution = contribution.OneComponent(numbers, 1)
			in.Operator = learner{operators.Description{Damping: &operators.Damping{Start: 1}}}
		}}.input()
		return in.ceiling()
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
		if !strings.Contains(said.line(), c.says) {
			t.Errorf("%q is not said: %s", c.says, said.line())
		}
		if b := said.Batch; b > 0 && (!at("coco", 32, b, c.rate).Fits || at("coco", 32, b/2, c.rate).Fits) {
			t.Errorf("a batch of %d fits, or half of it does", b)
		}
	}
	slow := pace{decode: 3e-6, event: 1e-6, number: 1e-6}
	if few, many := slow.seconds(8, 1), slow.seconds(8, 64); few != 9e-6 || many != 3e-6 {
		t.Errorf("events that take 3 µs to decode: %g s where learning takes 9 µs, %g s where it takes 1.1 µs", few, many)
	}
	whole := setting{change: func(in *Input) {
		in.Name, in.Rate, in.Input = "aggregate", 100, Partitions{Count: 12, Rate: 1200}
	}}
	if c := whole.input().ceiling(); c == nil || c.Rate != 1200 {
		t.Errorf("of 12 partitions: %+v", c)
	}
	if at("coco", 32, 1, 0) != nil || at("sets", 32, 1, 10) != nil {
		t.Error("a ceiling without a rate, or of an operator that was not measured")
	}
}
