package aggregate

import (
	"errors"
	"fmt"
	"math/bits"

	"oriel/mechanisms"
	"oriel/operators"
	"oriel/schemas/decision"
)

// Machine is an operators.Machine. The index of a decision is its step. No decision is due before the first record.
type Machine struct {
	operators.Base
	spec specification

	views      []reading
	increments *mechanisms.Reading   // sums since the last decision; nil if increments are not published
	readings   []*mechanisms.Reading // the readings whose sums are in the machine's own state
	sums       []float64             // sums of one view, scratch
	running    []float64             // running counts of one view's bins, scratch
	ranked     []ranked              // quantiles of one view, scratch
	scratch    []float64             // scratch for interval.Ranks

	point       []float64 // numbers of the decision
	extras      []decision.ExtraValue
	intervals   []decision.ExtraValue // intervals, a slice of extras
	differences []decision.ExtraValue // differences, a slice of extras

	shown  *decision.ExtraValue  // marks, an element of extras; nil in plans without marks
	added  *decision.ExtraValue  // increments, an element of extras
	test   *running              // nil if there is no experiment
	tested []decision.ExtraValue // members of the experiment, a slice of extras

	compared comparison
	differed []string // statistics whose differences are published with marks
}

// reading holds the source of a view's sums, and the noise of these sums.
type reading struct {
	sums      *mechanisms.Reading // nil if the view has the sums that the stream releases
	deviation mechanisms.Deviation
}

// maxWindow is log₂ of the longest window for which decisions with increments publish the noise.
const maxWindow = 20

// newMachine returns the machine at step 0 over a stream of the specification's contribution. The machine then owns the
// stream.
func newMachine(c operator, stream *mechanisms.Stream) (*Machine, error) {
	hot := c.spec.hot()
	n := hot.Size()
	if stream.Components() != 1 || stream.Dimension() != n || len(stream.Scratch()) != hot.Entries() {
		return nil, fmt.Errorf("aggregate: the stream has %d components and %d coordinates, want one with %d", stream.Components(), stream.Dimension(), n)
	}
	if stream.Terms() != c.terms {
		return nil, errors.New("aggregate: the stream has other sums, or other terms, than the settings say")
	}
	m := &Machine{
		Base: operators.Base{Operator: "aggregate", Stream: stream, Every: c.every, Version: stateVersion},
		spec: c.spec, sums: make([]float64, n),
	}
	m.running = make([]float64, c.spec.cells()*c.spec.weights.Bins)
	if bins := c.spec.weights.Bins; bins > 0 {
		m.ranked, m.scratch = make([]ranked, c.spec.numbers()), make([]float64, bins+2)
	}
	own, _ := stream.Memory()
	for _, memory := range c.memories {
		v := reading{}
		var err error
		if memory != own {
			if v.sums, err = stream.Reading(0, memory); err != nil {
				return nil, err
			}
			m.readings = append(m.readings, v.sums)
		}
		if v.deviation, err = stream.Deviation(0, memory); err != nil {
			return nil, err
		}
		if c.exact {
			v.deviation = v.deviation.Times(almost)
		}
		m.views = append(m.views, v)
	}
	if err := m.prepare(c); err != nil {
		return nil, err
	}
	for _, r := range m.readings {
		if r == m.increments {
			m.Fields = append(m.Fields, incrementsField{r, m})
		} else {
			m.Fields = append(m.Fields, operators.Sums(r, stream))
		}
	}
	if m.test != nil {
		m.Fields = append(m.Fields, m.test.fields(stream)...)
	}
	return m, nil
}

// prepare allocates everything that decisions need, so that no step allocates.
func (m *Machine) prepare(c operator) error {
	m.point = make([]float64, 0, len(m.views)*m.spec.numbers())
	m.extras = append(m.extras, decision.ExtraValue{Numbers: make([]float64, len(m.views))})
	if m.spec.weights.Mean > 0 {
		m.extras = append(m.extras, decision.ExtraValue{Numbers: make([]float64, len(m.views))})
	}
	from := len(m.extras)
	for range m.spec.intervalExtras() {
		m.extras = append(m.extras, decision.ExtraValue{Numbers: make([]float64, 0, len(m.views)*m.spec.cells())})
	}
	to := len(m.extras)
	for range m.spec.differenceExtras() {
		m.extras = append(m.extras, decision.ExtraValue{
			Numbers: make([]float64, 0, len(m.views)*m.spec.comparison().size()),
		})
	}
	end := len(m.extras)
	m.compared, m.differed = m.spec.comparison(), m.spec.compared()
	m.extras = append(m.extras, decision.ExtraValue{Numbers: m.newMarks()})
	if c.test != nil {
		var err error
		if m.test, err = newRunning(c, m.Stream); err != nil {
			return err
		}
		for range c.testExtras() {
			m.extras = append(m.extras, decision.ExtraValue{Numbers: make([]float64, 0, m.spec.comparison().arms)})
		}
	}
	tests := len(m.extras)
	m.extras = operators.AppendLifetimeMembers(m.extras, c.terms)
	defer func() { // runs when the machine is complete
		m.tested = m.extras[tests-len(c.testExtras()) : tests]
		m.intervals, m.differences = m.extras[from:to], m.extras[to:end]
		m.shown = &m.extras[end]
	}()
	if !c.increments {
		return nil
	}
	var err error
	if m.increments, err = m.Stream.Reading(0, 0); err != nil {
		return err
	}
	m.readings = append(m.readings, m.increments)
	memory, _ := m.Stream.Memory()
	windows := make([]float64, min(maxWindow, bits.Len64(memory)+4)+1)
	for i := range windows {
		windows[i] = m.spec.countDeviation(m.Stream.WindowDeviation(0, 1<<i))
	}
	at := len(m.extras)
	m.extras = append(m.extras, decision.ExtraValue{Numbers: make([]float64, 0, len(m.sums))},
		decision.ExtraValue{Numbers: windows}, decision.ExtraValue{Numbers: m.Stream.IncrementFilter()})
	m.added = &m.extras[at]
	return nil
}

// Add takes the cell, value and weight of the record. A record of no cell counts as a null record.
func (m *Machine) Add(dst []operators.Decision, r operators.Record) []operators.Decision {
	if !m.Stream.Add(r.Identity, m.contribution(r)) {
		return dst
	}
	for _, r := range m.readings {
		r.Take()
	}
	if m.test != nil {
		m.test.take(m.Stream)
	}
	t := m.Stream.Step()
	if t%m.Every != 0 {
		return dst
	}
	m.decide(t)
	return append(dst, operators.Decision{Index: t, Step: t, Point: m.point, Extras: m.extras})
}

// contribution returns the numbers of a record for the stream, or nil for a null record.
func (m *Machine) contribution(r operators.Record) []float64 {
	numbers := r.Event.Numbers
	want := len(m.spec.dimensions)
	if m.spec.value != "" {
		want++
	}
	if r.Null || len(numbers) != want {
		return nil
	}
	cell, ok := m.spec.cell(numbers)
	if !ok || cell < 0 {
		return nil
	}
	adds := m.Stream.Scratch()
	adds[0], adds[1], adds[2] = float64(cell), 0, 1
	if m.spec.value != "" {
		x := numbers[want-1]
		if !finite(x) {
			return nil
		}
		adds[1] = (max(m.spec.low, min(m.spec.high, x)) - m.spec.middle()) / m.spec.half()
	}
	if m.spec.weightMax > 0 {
		if !(r.Event.Weight >= 0 && finite(r.Event.Weight)) {
			return nil
		}
		adds[2] = r.Event.Weight // no clamp here, because the quantiser clamps the weight
	}
	return adds
}

// decide computes the decision of step t. It reads only released numbers.
func (m *Machine) decide(t uint64) {
	m.point = m.point[:0]
	for i := range m.intervals {
		m.intervals[i].Numbers = m.intervals[i].Numbers[:0]
	}
	for i := range m.differences {
		m.differences[i].Numbers = m.differences[i].Numbers[:0]
	}
	for i, v := range m.views {
		sums := m.Stream.Sum(0)
		if v.sums != nil {
			sums = m.sums
			v.sums.Write(sums)
		}
		m.spec.accumulate(m.running, sums)
		of := totals{sums, m.running, m.ranked, v.deviation.At(t)}
		m.spec.rank(m.ranked, of, m.scratch)
		m.point = m.spec.show(m.point, of)
		m.spec.appendIntervals(m.intervals, of)
		m.spec.appendDifferences(m.differences, of)
		m.mark(i, of)
		m.extras[0].Numbers[i] = m.spec.countDeviation(of.deviation)
		if m.spec.weights.Mean > 0 {
			m.extras[1].Numbers[i] = m.spec.sumDeviation(of.deviation)
		}
	}
	if m.test != nil {
		m.test.write(m.tested)
	}
	if m.increments == nil {
		return
	}
	m.increments.Write(m.sums)
	m.increments.Clear()
	m.spec.accumulate(m.running, m.sums)
	m.added.Numbers = m.spec.transposed(m.added.Numbers[:0], totals{sums: m.sums, running: m.running})
}
