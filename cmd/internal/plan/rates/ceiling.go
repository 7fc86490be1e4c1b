package rates

import (
	"fmt"
	"math"
	"math/bits"

	"oriel/cmd/internal/digits"
	"oriel/mechanisms"
	"oriel/mechanisms/steps"
	"oriel/operators"
)

// Ceiling is the largest rate of events that one stream can process. One goroutine decodes its events and another
// applies them in order; the slower one limits the rate.
type Ceiling struct {
	// largest number of events per second, measured on the machine of deploy/bench/RESULTS.md
	EventsPerSecond digits.Number `json:"events_per_second"`
	// rate that one stream needs, or the whole topic if the number of its partitions is known
	Rate digits.Number `json:"rate"`
	Fits bool          `json:"fits"`
	// the smallest power of two that suffices; 0: none suffices, the configured batch does, or steps are by the clock
	Batch uint64 `json:"batch_that_fits"`
	// the shortest step by the clock that suffices, seconds; 0: none suffices, or the configured step does
	Step uint64 `json:"step_seconds_that_fit,omitempty"`

	measured pace
	byClock  bool
}

// pace is the time that an event takes in each of the two goroutines, in seconds. To decode it takes decode; to apply
// it takes event, and number for each released number, which the events of a step share.
type pace struct {
	decode, event, number float64
	events                string // description of the measured events
}

// paceOf returns the figures of BenchmarkOneStream (cmd/internal/replay), of 2026-11-26 in deploy/bench/RESULTS.md.
// With 1, 64 and 4096 events a step, applying an event takes 3.62, 1.03 and 0.97 µs for 32 numbers, and 15.5, 0.83 and
// 0.60 µs for 144. Decoding takes 0.42 and 0.11 µs an event. paceOf returns false for an operator that was not
// measured.
func paceOf(name string, c mechanisms.Config, o operators.Operator) (pace, bool) {
	switch {
	case name == "coco" && o.Describe(c).Damping != nil:
		return pace{0.42e-6, 0.97e-6, 83e-9, "six named features"}, true
	case name == "aggregate":
		return pace{0.11e-6, 0.60e-6, 103e-9, "two dimensions and a value"}, true
	}
	return pace{}, false
}

// seconds returns the time between two events, with batch events a step.
func (p pace) seconds(numbers int, batch uint64) float64 {
	return max(p.decode, p.event+p.number*float64(numbers)/float64(batch))
}

// busiest returns the most events a second with steps of so many seconds, which share their time with the numbers.
func (p pace) busiest(numbers int, step float64) float64 {
	return min(1/p.decode, max(0, 1-p.number*float64(numbers)/step)/p.event)
}

// Work is the time that one stream's work takes. The zero value is of an operator that was not measured.
type Work struct {
	pace
	numbers int
	rate    float64 // events a second; 0: unknown, and not counted
}

// WorkOf returns the Work of one stream of the named operator at this rate.
func WorkOf(name string, m mechanisms.Config, o operators.Operator, rate float64) Work {
	p, _ := paceOf(name, m, o)
	return Work{p, m.Dimension(), rate}
}

// Seconds returns how long it takes to close steps, and to take the events of so many seconds, without brokers. It is
// None for an operator that was not measured.
func (w Work) Seconds(steps, seconds float64) digits.Number {
	if w.pace == (pace{}) {
		return digits.None
	}
	return digits.Number(steps*w.number*float64(w.numbers) + w.rate*seconds*max(w.decode, w.event))
}

// CeilingOf returns the Ceiling of one stream of the named operator at this rate. It is nil if the rate is unknown, or
// if the operator was not measured.
func CeilingOf(name string, m mechanisms.Config, o operators.Operator, rate float64, clock steps.Clock) *Ceiling {
	p, measured := paceOf(name, m, o)
	if !(rate > 0) || !measured {
		return nil
	}
	numbers := m.Dimension()
	if !clock.Counts() {
		c := &Ceiling{
			EventsPerSecond: digits.Number(p.busiest(numbers, float64(clock.Length))), Rate: digits.Number(rate),
			measured: p, byClock: true,
		}
		c.Fits = rate <= float64(c.EventsPerSecond)
		if !c.Fits && rate*max(p.decode, p.event) < 1 {
			c.Step = uint64(math.Ceil(p.number * float64(numbers) / (1 - rate*p.event)))
		}
		return c
	}
	c := &Ceiling{
		EventsPerSecond: digits.Number(1 / p.seconds(numbers, m.Batch)),
		Rate:            digits.Number(rate), measured: p,
	}
	c.Fits = rate <= float64(c.EventsPerSecond)
	if !c.Fits && rate*max(p.decode, p.event) < 1 {
		least := p.number * float64(numbers) / (1/rate - p.event)
		c.Batch = 1 << bits.Len64(uint64(least))
	}
	return c
}

// String returns the ceiling as readable text.
func (c *Ceiling) String() string {
	text := fmt.Sprintf("One stream takes %s events a second at most on the machine of deploy/bench/RESULTS.md (events of "+
		"%s, decoded in one goroutine and learned from in another, no broker): %s ",
		digits.Count(uint64(digits.RoundTwo(float64(c.EventsPerSecond)))), c.measured.events,
		digits.Count(uint64(math.Ceil(float64(c.Rate)))))
	switch {
	case c.Fits:
		return text + "fit.\n"
	case c.Step > 0:
		return text + fmt.Sprintf("do not.\nORIEL_STEP of %d s or more makes them fit, with fewer decisions.\n", c.Step)
	case c.byClock:
		return text + "do not, whatever ORIEL_STEP, because with steps by the clock the whole topic is one stream.\n"
	case c.Batch > 0:
		return text + fmt.Sprintf("do not.\nORIEL_BATCH=%d makes them fit, with fewer decisions.\n", c.Batch)
	}
	return text + "do not, whatever ORIEL_BATCH.\nORIEL_STREAM=partition divides the work, and each stream then learns " +
		"from the events of its partition alone.\n"
}
