package aggregate

import (
	"errors"
	"fmt"

	"oriel/mechanisms"
	"oriel/operators"
	"oriel/operators/aggregate/interval"
	"oriel/operators/aggregate/trial"
	"oriel/schemas/decision"
)

// Machine is an operators.Machine. The index of a decision is its step. No decision is due before the first record.
type Machine struct {
	operators.Base
	spec specification

	views      []reading
	publishes  bool                  // are increments published?
	increments *mechanisms.Reading   // sums since the last decision; nil if not published, or if steps are released alone
	readings   []*mechanisms.Reading // the readings whose sums are in the machine's own state
	sums       []float64             // sums of one view, scratch
	running    []float64             // running counts of one view's bins, scratch
	ranked     []ranked              // quantiles of one view, scratch
	scratch    []float64             // scratch for interval.Ranks

	point   []float64 // numbers of the decision
	members *members
	extras  []decision.ExtraValue
	marks   []float64  // which numbers are shown; extras share them
	test    *trial.Run // nil if there is no experiment
}

// reading holds the source of a view's sums, and the noise of these sums.
type reading struct {
	sums      *mechanisms.Reading // nil if the view has the sums that the stream releases
	deviation mechanisms.Deviation
}

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
			v.deviation = v.deviation.Times(interval.Almost)
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
		m.Fields = append(m.Fields, m.test.Fields(stream)...)
	}
	return m, nil
}

// prepare allocates everything that decisions need, so that no step allocates.
func (m *Machine) prepare(c operator) (err error) {
	m.point = make([]float64, 0, len(m.views)*m.spec.numbers())
	m.members = c.members()
	m.extras, m.marks = m.members.Values(), m.spec.newMarks(len(m.views), m.members)
	m.members.shown.Set(m.extras, m.marks)
	if c.test != nil {
		if m.test, err = trial.NewRun(c.test, m.members.findings, m.Stream); err != nil {
			return err
		}
	}
	if m.publishes = c.increments; !c.increments || c.perStep {
		return nil
	}
	if m.increments, err = m.Stream.Reading(0, 0); err != nil {
		return err
	}
	m.readings = append(m.readings, m.increments)
	for i := range c.windows() {
		m.members.windowDeviation.Append(m.extras, m.spec.countDeviation(m.Stream.WindowDeviation(0, 1<<i)))
	}
	m.members.incrementFilter.Set(m.extras, m.Stream.IncrementFilter())
	return nil
}

// Add takes the cell, value and weight of the record. A record of no cell counts as a null record.
func (m *Machine) Add(r operators.Record) { m.Stream.Add(r.Identity, m.contribution(r)) }

// Close publishes the numbers of the step, if a decision is due.
func (m *Machine) Close(dst []operators.Decision) []operators.Decision {
	m.Stream.Close()
	for _, r := range m.readings {
		r.Take()
	}
	if m.test != nil {
		m.test.Learn(m.Stream)
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
	cell, has := m.spec.cellOf(r.Event)
	if r.Null || !has {
		return nil
	}
	adds := m.Stream.Scratch()
	adds[0], adds[1], adds[2] = float64(cell), 0, 1
	if m.spec.value != "" {
		x := r.Event.Numbers[len(r.Event.Numbers)-1]
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
	for _, list := range m.members.byView {
		list.Clear(m.extras)
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
		m.spec.appendIntervals(m.members, m.extras, of)
		m.spec.appendDifferences(m.members, m.extras, of)
		m.spec.mark(m.marks, i, len(m.views), m.members, of)
		m.members.countDeviation.Append(m.extras, m.spec.countDeviation(of.deviation))
		if m.spec.weights.Mean > 0 {
			m.members.sumDeviation.Append(m.extras, m.spec.sumDeviation(of.deviation))
		}
	}
	if m.test != nil {
		m.test.Write(m.extras)
	}
	if !m.publishes {
		return
	}
	sums := m.Stream.Sum(0) // of a step that is released alone, whose running counts are those of the view
	if m.increments != nil {
		sums = m.sums
		m.increments.Write(sums)
		m.increments.Clear()
		m.spec.accumulate(m.running, sums)
	}
	added := m.members.increments
	added.Set(m.extras, m.spec.transposed(added.Of(m.extras)[:0], totals{sums: sums, running: m.running}))
}

// A state holds the sums of the views for which the stream keeps no sums itself, and the increments since the last
// decision.
const stateVersion = 1

// incrementsField is the state's field of increments.
type incrementsField struct {
	*mechanisms.Reading
	m *Machine
}

// Restore refuses a state that holds increments right after a decision, because the decision has published them.
func (f incrementsField) Restore(state []byte) error {
	return f.Reading.Restore(state, f.m.Stream.Step()%f.m.Every == 0)
}
