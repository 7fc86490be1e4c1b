package numbers

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"oriel/cmd/internal/numbers/clock"
	"oriel/cmd/internal/numbers/laplace"
	"oriel/mechanisms"
	"oriel/operators/aggregate/interval"
	"oriel/schemas/decision"
)

// Collector sums the increments in decisions by intervals of the clock.
type Collector struct {
	*clock.Arrivals
	names     *Names
	columns   []string
	units     []float64          // deviation of the noise by column, relative to a count's; nil: no increments
	filters   map[string]*filter // parsed filters, by their text
	partials  map[int64]map[clock.Stream]*partial
	mechanism string             // of releases of each step; empty: none yet
	spreads   map[string]*spread // quantiles of noise that is not normal, by the text of its draws
	fractions bool               // counts of once-laplace are not whole numbers, because events have weights
	Taken     int                // number of decisions
}

// partial is the contribution of one stream to an interval.
type partial struct {
	sums      []float64 // sums by column, then by cell
	spans     []span
	deviation float64         // deviation of a count of one step
	filter    *filter         // filter of the increments' noise
	variance  []float64       // variance of the noise by column, for mechanisms with per-step releases
	drawn     []laplace.Steps // steps whose noise is not normal
}

// NewCollector returns a Collector. It refuses names of decisions that cannot be added up.
func NewCollector(names *Names, by clock.Clock) (*Collector, error) {
	if by.Every != 0 && by.Every < time.Millisecond || by.Every%time.Millisecond != 0 {
		return nil, errors.New("intervals of the clock have whole milliseconds")
	}
	columns, units, err := names.columns()
	if err == nil {
		err = names.addsUp(by)
	}
	return &Collector{
		Arrivals: clock.NewArrivals(by), names: names, columns: columns, units: units,
		filters: map[string]*filter{}, partials: map[int64]map[clock.Stream]*partial{}, spreads: map[string]*spread{},
	}, err
}

// Add takes a decision and the decision's time, ms. Decisions of a stream must come in order.
func (c *Collector) Add(d decision.Decision, ms int64) error {
	if err := c.Check(d); err != nil {
		return err
	}
	if d.Step < c.names.EmitEvery {
		return fmt.Errorf("stream %q: step %d, and decisions come each %d steps: another deployment's", d.Stream, d.Step,
			c.names.EmitEvery)
	}
	key, err := c.Interval(d, ms)
	if err != nil {
		return fmt.Errorf("stream %q, step %d: %w", d.Stream, d.Step, err)
	}
	p := c.partial(key, clock.StreamOf(d))
	if c.names.perStep() {
		err = c.addStep(p, d)
	} else {
		err = c.addIncrements(p, d)
	}
	if err != nil {
		return fmt.Errorf("stream %q, step %d: %w", d.Stream, d.Step, err)
	}
	c.Follow(d, ms)
	c.Taken++
	p.spans = append(p.spans, span{d.Step - c.names.EmitEvery, d.Step})
	if n := len(p.spans); n > 1 && p.spans[n-2].to == p.spans[n-1].from {
		p.spans[n-2].to = d.Step
		p.spans = p.spans[:n-1]
	}
	return nil
}

func (c *Collector) partial(key int64, of clock.Stream) *partial {
	streams := c.partials[key]
	if streams == nil {
		streams = map[clock.Stream]*partial{}
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

func (c *Collector) addIncrements(p *partial, d decision.Decision) (err error) {
	if p.filter, err = c.filter(d); err == nil {
		_, p.deviation, err = c.increments(p, d, "window_deviation")
	}
	return err
}

// increments adds the increments of a decision, and returns them with the deviation of a count of one step.
func (*Collector) increments(p *partial, d decision.Decision, of string) (all []float64, deviation float64, err error) {
	if all, err = list(d, "increments", len(p.sums)); err != nil {
		return nil, 0, err
	}
	deviations, err := list(d, of, 1)
	if err != nil {
		return nil, 0, err
	}
	if len(all) != len(p.sums) || !(deviations[0] > 0) {
		return nil, 0, fmt.Errorf("%d increments, want %d, or a deviation that is none", len(all), len(p.sums))
	}
	for i, x := range all {
		p.sums[i] += x
	}
	return all, deviations[0], nil
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

// addStep adds the increments of a per-step release or, without them, its counts and its sums of values, converted to
// sums of x̃.
func (c *Collector) addStep(p *partial, d decision.Decision) error {
	if c.mechanism != "" && d.Mechanism != c.mechanism {
		return fmt.Errorf("a decision of %s behind decisions of %s: another deployment's", d.Mechanism, c.mechanism)
	}
	c.mechanism = d.Mechanism
	facts, _ := mechanisms.FactsOf(d.Mechanism)
	if c.units != nil {
		return c.addColumns(p, d, facts.Discrete())
	}
	cells := len(c.names.Cells)
	if len(d.Point) != len(c.names.Statistics)*cells {
		return fmt.Errorf("a decision of %d numbers, want %d", len(d.Point), len(c.names.Statistics)*cells)
	}
	shown := func(statistic, member string) (numbers []float64, deviation float64, err error) {
		deviations, err := list(d, member+"_deviation", 1)
		if err != nil {
			return nil, 0, err
		}
		return d.Point[slices.Index(c.names.Statistics, statistic)*cells:][:cells], deviations[0], nil
	}
	counts, noise, err := shown(c.columns[0], count)
	if err != nil {
		return err
	}
	for cell, x := range counts {
		p.sums[cell] += x
	}
	p.variance[0] += noise * noise
	x := 0.0 // variance of the sum of x̃
	if len(c.columns) > 1 {
		sums, deviation, err := shown(sum, sum)
		if err != nil {
			return err
		}
		middle, half := c.names.valueRange()
		for cell, y := range sums {
			p.sums[cells+cell] += (y - middle*counts[cell]) / half
		}
		x = max(0, deviation*deviation-middle*middle*noise*noise) / (half * half)
		p.variance[1] += x
	}
	if facts.Discrete() {
		return c.addDrawn(p, counts, laplace.Steps{N: 1, Count: noise, Value: math.Sqrt(x), Draws: 1})
	}
	return nil
}

// addColumns adds the increments of a per-step release, and the variances of their noise.
func (c *Collector) addColumns(p *partial, d decision.Decision, discrete bool) error {
	increments, noise, err := c.increments(p, d, "count_deviation")
	if err != nil {
		return err
	}
	bins := slices.IndexFunc(c.columns, func(name string) bool { return strings.HasPrefix(name, below) })
	counts, draws := increments[:len(c.names.Cells)], 1.0
	if c.columns[0] != count { // the last running count is the count
		counts, draws = increments[len(increments)-len(c.names.Cells):], float64(len(c.columns)-bins)
	}
	each := noise / math.Sqrt(draws) // deviation of a draw of a count
	whole := discrete && !slices.ContainsFunc(counts, func(y float64) bool { return y != math.Trunc(y) })
	if whole { // units are those of continuous draws
		noise *= interval.ContinuousDeviation(each) / each
	}
	for i, unit := range c.units {
		x := noise * unit
		if whole && i == 0 && draws == 1 {
			x = each
		} else if first := noise * c.units[max(bins, 0)]; whole && bins >= 0 && i >= bins {
			x *= interval.DiscreteDeviation(first) / first
		}
		p.variance[i] += x * x
	}
	if !discrete {
		return nil
	}
	value := noise
	if i := slices.Index(c.columns, sum); i >= 0 {
		value *= c.units[i]
	}
	return c.addDrawn(p, counts, laplace.Steps{N: 1, Count: each, Value: value, Draws: draws})
}
