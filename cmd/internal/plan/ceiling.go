package plan

import (
	"fmt"
	"math"
	"math/bits"
)

// Ceiling is how many events a second one stream takes at most, since one goroutine takes its events in their order.
type Ceiling struct {
	EventsPerSecond Number `json:"events_per_second"` // on the machine of deploy/bench/RESULTS.md
	Rate            Number `json:"rate"`              // that is asked of one stream: of the whole topic, if its partitions are known
	Fits            bool   `json:"fits"`
	Batch           uint64 `json:"batch_that_fits"` // the least power of two; 0: none does, or the configured one does

	measured pace
}

// pace is what an event takes of the one goroutine, in seconds: its own part, and that of each number of a release,
// which the events of a step share.
type pace struct {
	event, number float64
	events        string // that were measured
}

// paceOf has the figures of BenchmarkOneStream (cmd/internal/replay), of 2026-11-26 in deploy/bench/RESULTS.md: 4.13,
// 1.53 and 1.48 µs an event for 1, 64 and 4096 events a step of 32 numbers, and 20.9, 1.36 and 1.03 µs for 144.
// It reports false for an operator whose events were not measured so.
func (in Input) paceOf() (pace, bool) {
	switch damping := in.Operator.Describe(in.Configured).Damping; {
	case in.Name == "coco" && damping != nil:
		return pace{1.5e-6, 85e-9, "six named features"}, true
	case in.Name == "aggregate":
		return pace{1.05e-6, 140e-9, "two dimensions and a value"}, true
	}
	return pace{}, false
}

// seconds is the time of one event among so many of a step.
func (p pace) seconds(numbers int, batch uint64) float64 {
	return p.event + p.number*float64(numbers)/float64(batch)
}

// ceiling is nil without a rate, and for an operator that was not measured.
func (in Input) ceiling() *Ceiling {
	rate, numbers := in.Rate, in.Configured.Dimension()
	if in.Input.Count > 1 {
		rate = in.Input.Rate
	}
	p, measured := in.paceOf()
	if !(rate > 0) || !measured {
		return nil
	}
	c := &Ceiling{
		EventsPerSecond: Number(1 / p.seconds(numbers, in.Configured.Batch)), Rate: Number(rate), measured: p,
	}
	c.Fits = rate <= float64(c.EventsPerSecond)
	if !c.Fits && rate*p.event < 1 {
		least := p.number * float64(numbers) / (1/rate - p.event)
		c.Batch = 1 << bits.Len64(uint64(least))
	}
	return c
}

// line is for a person.
func (c *Ceiling) line() string {
	text := fmt.Sprintf("One stream takes %s events a second at most on the machine of deploy/bench/RESULTS.md (events of "+
		"%s, one goroutine, no broker): %s ", count(uint64(round2(float64(c.EventsPerSecond)))), c.measured.events,
		count(uint64(math.Ceil(float64(c.Rate)))))
	switch {
	case c.Fits:
		return text + "fit.\n"
	case c.Batch > 0:
		return text + fmt.Sprintf("do not.\nORIEL_BATCH=%d makes them fit, with fewer decisions.\n", c.Batch)
	}
	return text + "do not, whatever ORIEL_BATCH.\nORIEL_STREAM=partition divides the work, and each stream then learns " +
		"from the events of its partition alone.\n"
}
