package numbers

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"oriel/schemas/decision"
)

// Clock defines the intervals: [k·Every − Offset, (k+1)·Every − Offset) since 1970, UTC. If Every is 0, a single
// interval contains all times.
type Clock struct {
	Every  time.Duration
	Offset time.Duration // offset of local time from UTC, positive in the east
}

// key returns the number k of the interval that contains a time, ms.
func (c Clock) key(ms int64) int64 {
	if c.Every == 0 {
		return 0
	}
	every, at := c.Every.Milliseconds(), ms+c.Offset.Milliseconds()
	key := at / every
	if at%every < 0 {
		key--
	}
	return key
}

// start returns the beginning of an interval.
func (c Clock) start(key int64) time.Time {
	ms := key*c.Every.Milliseconds() - c.Offset.Milliseconds()
	return time.UnixMilli(ms).In(time.FixedZone("", int(c.Offset.Seconds())))
}

// Collector sums the increments in decisions by intervals of the clock.
type Collector struct {
	names    *Names
	clock    Clock
	columns  []string
	units    []float64 // deviation of the noise by column, relative to a count's; nil: see partial.variance
	last     map[stream]uint64
	courses  map[stream]*course
	filters  map[string]*filter // parsed filters, by their text
	partials map[int64]map[stream]*partial
	first    int64 // time of the earliest decision, ms
	newest   int64
	times
	Taken int // number of decisions
}

type stream struct {
	name        string
	incarnation [16]byte
}

// partial is the contribution of one stream to an interval.
type partial struct {
	sums      []float64 // sums by column, then by cell
	spans     []span
	deviation float64   // deviation of a count of one step
	filter    *filter   // filter of the increments' noise
	variance  []float64 // variance of the noise by column, for mechanisms with per-step releases
}

// NewCollector returns a Collector. It refuses names of decisions that cannot be added up.
func NewCollector(names *Names, clock Clock) (*Collector, error) {
	if clock.Every != 0 && clock.Every < time.Millisecond || clock.Every%time.Millisecond != 0 {
		return nil, errors.New("intervals of the clock have whole milliseconds")
	}
	columns, units, err := names.columns()
	return &Collector{
		names: names, clock: clock, columns: columns, units: units, last: map[stream]uint64{}, courses: map[stream]*course{},
		filters: map[string]*filter{}, partials: map[int64]map[stream]*partial{}, first: math.MaxInt64, newest: math.MinInt64,
		times: times{},
	}, err
}

// Add takes a decision and the decision's time, ms. Decisions of a stream must come in order.
func (c *Collector) Add(d decision.Decision, ms int64) error {
	of := stream{d.Stream, d.Incarnation}
	if last, ok := c.last[of]; ok && d.Step <= last {
		return fmt.Errorf("stream %q: step %d behind step %d: decisions come in their order, and once", d.Stream, d.Step, last)
	}
	if d.Step < c.names.EmitEvery {
		return fmt.Errorf("stream %q: step %d, and decisions come each %d steps: another deployment's", d.Stream, d.Step,
			c.names.EmitEvery)
	}
	p := c.partial(c.clock.key(ms), of)
	var err error
	if c.units == nil {
		err = c.addStep(p, d)
	} else {
		err = c.addIncrements(p, d)
	}
	if err != nil {
		return fmt.Errorf("stream %q, step %d: %w", d.Stream, d.Step, err)
	}
	c.last[of] = d.Step
	follow(c.courses, of, ms)
	c.first, c.newest = min(c.first, ms), max(c.newest, ms)
	c.times[of] = append(c.times[of], ms)
	c.Taken++
	p.spans = append(p.spans, span{d.Step - c.names.EmitEvery, d.Step})
	if n := len(p.spans); n > 1 && p.spans[n-2].to == p.spans[n-1].from {
		p.spans[n-2].to = d.Step
		p.spans = p.spans[:n-1]
	}
	return nil
}

// Mixed returns how far the times of a stream's decisions go back at most. It is 0 if intervals are not mixed by that.
func (c *Collector) Mixed() time.Duration { return c.clock.mixed(c.courses) }

func (c *Collector) partial(key int64, of stream) *partial {
	streams := c.partials[key]
	if streams == nil {
		streams = map[stream]*partial{}
		c.partials[key] = streams
	}
	p := streams[of]
	if p == nil {
		p = &partial{sums: make([]float64, len(c.columns)*len(c.names.Cells)), variance: make([]float64, len(c.columns))}
		streams[of] = p
	}
	return p
}

// list returns a member of a decision that must be a list of at least `least` numbers.
func list(d decision.Decision, name string, least int) ([]float64, error) {
	i := slices.IndexFunc(d.Extras, func(x decision.ExtraMember) bool { return x.Name == name })
	if i < 0 {
		return nil, fmt.Errorf("no member %s: not a decision of this deployment", name)
	}
	var numbers []float64
	if err := json.Unmarshal([]byte(d.Extras[i].JSON), &numbers); err != nil || len(numbers) < least {
		return nil, fmt.Errorf("member %s: not a list of %d numbers", name, least)
	}
	return numbers, nil
}

func (c *Collector) addIncrements(p *partial, d decision.Decision) error {
	increments, err := list(d, "increments", len(p.sums))
	if err != nil {
		return err
	}
	deviations, err := list(d, "window_deviation", 1)
	if err != nil {
		return err
	}
	if len(increments) != len(p.sums) || !(deviations[0] > 0) {
		return fmt.Errorf("%d increments, want %d, or a deviation that is none", len(increments), len(p.sums))
	}
	if p.filter, err = c.filter(d); err != nil {
		return err
	}
	for i, x := range increments {
		p.sums[i] += x
	}
	p.deviation = deviations[0]
	return nil
}

// filter returns the filter in a decision.
func (c *Collector) filter(d decision.Decision) (*filter, error) {
	const name = "increment_filter"
	numbers, err := list(d, name, 3)
	if err != nil {
		return nil, err
	}
	text := d.Extras[slices.IndexFunc(d.Extras, func(x decision.ExtraMember) bool { return x.Name == name })].JSON
	if f := c.filters[text]; f != nil {
		return f, nil
	}
	f, err := newFilter(numbers)
	if err == nil && c.names.EmitEvery>>20 > f.period {
		err = errFilter
	}
	if err != nil {
		return nil, err
	}
	c.filters[text] = f
	return f, nil
}

// addStep adds the counts of a per-step release, and its sums of values, converted to sums of x̃.
func (c *Collector) addStep(p *partial, d decision.Decision) error {
	cells := len(c.names.Cells)
	if len(d.Point) != len(c.names.Statistics)*cells {
		return fmt.Errorf("a decision of %d numbers, want %d", len(d.Point), len(c.names.Statistics)*cells)
	}
	shown := func(statistic string) (numbers []float64, deviation float64, err error) {
		deviations, err := list(d, statistic+"_deviation", 1)
		if err != nil {
			return nil, 0, err
		}
		return d.Point[slices.Index(c.names.Statistics, statistic)*cells:][:cells], deviations[0], nil
	}
	counts, noise, err := shown(count)
	if err != nil {
		return err
	}
	for cell, x := range counts {
		p.sums[cell] += x
	}
	p.variance[0] += noise * noise
	if len(c.columns) == 1 {
		return nil
	}
	sums, deviation, err := shown(sum)
	if err != nil {
		return err
	}
	middle, half := c.names.middle(), c.names.half()
	for cell, x := range sums {
		p.sums[cells+cell] += (x - middle*counts[cell]) / half
	}
	p.variance[1] += max(0, deviation*deviation-middle*middle*noise*noise) / (half * half)
	return nil
}
