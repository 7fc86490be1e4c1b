package submodular

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"oriel/mechanisms"
	"oriel/mechanisms/dp"
	"oriel/operators"
	"oriel/schemas"
)

// Machine is an operators.Machine. Index = step; nothing is owed before the first record.
type Machine struct {
	configured
	plan   plan
	stream *mechanisms.Stream
	greedy *greedy

	leaders *leaders // of that rule, else nil
	shares  *shares  // of that rule, else nil

	set     []int // the newest decision; before the first one the greedy set for one event of each type, or the first k
	point   []float64
	extras  []schemas.ExtraValue
	valueAt int // among extras, of histogram

	values []float64  // of an event's elements, scratch
	counts []float64  // scratch
	kind   [1]float64 // scratch
}

var _ operators.Machine = (*Machine)(nil)

// newMachine returns the machine at step 0 over a stream of the leaf. It takes the stream over.
func newMachine(c configured, p plan, stream *mechanisms.Stream) (*Machine, error) {
	c.copies = p.copies
	size := c.pick * c.elements // of gains
	if c.shares {
		size = c.copies * c.elements
	}
	entries := size
	if c.histogram {
		size, entries = len(c.types), 1
	}
	if stream.Parts() != 1 || stream.Dimension() != size || len(stream.Scratch()) != entries {
		return nil, fmt.Errorf("submodular: the stream has %d parts and %d coordinates, want one with %d", stream.Parts(),
			stream.Dimension(), size)
	}
	if (stream.Guarantee().Mechanism == mechanisms.Drawing) != c.draws {
		return nil, errors.New("submodular: one of stream and settings draws, the other does not")
	}
	if stream.Once() || stream.Memory() != c.memory || stream.Batch() != c.batch {
		return nil, errors.New("submodular: the stream releases other sums than the settings say")
	}
	m := &Machine{
		configured: c, plan: p, stream: stream, greedy: newGreedy(c.function, len(c.types), c.elements, c.pick),
		point: make([]float64, c.pick), values: make([]float64, c.elements), counts: make([]float64, len(c.types)),
	}
	if c.leads {
		var err error
		if m.leaders, err = newLeaders(c.elements); err != nil {
			return nil, err
		}
	}
	m.set = c.first(p.table)
	if c.shares {
		var err error
		if m.shares, err = newShares(c, c.copies, m.set); err != nil {
			return nil, err
		}
		m.point = make([]float64, c.elements)
	}
	if c.named() {
		m.extras = append(m.extras, schemas.ExtraValue{})
	}
	if c.histogram {
		m.valueAt = len(m.extras)
		m.extras = append(m.extras, schemas.ExtraValue{})
	}
	if c.told {
		m.extras = append(m.extras, schemas.ExtraValue{Numbers: m.shares.points})
	}
	m.extras = operators.AppendLasting(m.extras, stream)
	return m, nil
}

// first is the set before any event, public: the greedy one for an event of each type, or the first k.
func (c configured) first(table []float64) []int {
	set := make([]int, c.pick)
	if len(c.types) == 0 {
		for i := range set {
			set[i] = i
		}
		return set
	}
	each := make([]float64, len(c.types))
	for j := range each {
		each[j] = 1
	}
	best, _ := newGreedy(c.function, len(c.types), c.elements, c.pick).weighted(table, each)
	copy(set, best)
	return set
}

// Open owes nothing: the first set is public.
func (m *Machine) Open(dst []operators.Decision) []operators.Decision { return dst }

// Add takes the leaf of the record. One that has none is a null one.
func (m *Machine) Add(dst []operators.Decision, r operators.Record) []operators.Decision {
	if !m.stream.Add(r.Identity, m.leaf(r)) {
		return dst
	}
	t := m.stream.Step()
	if t%m.every != 0 {
		return dst
	}
	m.decide()
	return append(dst, operators.Decision{Index: t, Step: t, Point: m.point, Extras: m.extras})
}

// leaf returns the numbers of a record for the stream, or nil.
func (m *Machine) leaf(r operators.Record) []float64 {
	if r.Null {
		return nil
	}
	if m.histogram {
		j := m.typeOf(r.Event)
		if j < 0 {
			return nil
		}
		m.kind[0] = float64(j)
		return m.kind[:]
	}
	if !m.worth(r.Event) {
		return nil
	}
	leaf := m.stream.Scratch()
	if m.shares != nil {
		m.shares.gradients(leaf, m.values, m.function)
		return leaf
	}
	before := 0.0
	for i, element := range m.set {
		gains := leaf[i*m.elements:][:m.elements]
		for a, v := range m.values {
			gains[a] = m.function.gain(before, v, m.pick) - 0.5
		}
		for _, in := range m.set[:i] {
			gains[in] = -0.5 // a set gains nothing from an element that it has
		}
		if !slices.Contains(m.set[:i], element) { // as draws alone can be
			before = m.function.with(before, m.values[element], m.pick)
		}
	}
	return leaf
}

// typeOf is the place of an event; −1: it has none.
func (c configured) typeOf(e schemas.Event) int {
	if len(e.Numbers) != 1 || !(e.Numbers[0] >= 0 && e.Numbers[0] < float64(len(c.types))) {
		return -1
	}
	return int(e.Numbers[0])
}

// worth writes what each element is worth to an event: by its place or type, or as it says itself.
func (m *Machine) worth(e schemas.Event) bool {
	if len(m.types) == 0 {
		return m.valuesOf(e)
	}
	j := m.typeOf(e)
	if j >= 0 {
		copy(m.values, m.plan.table[j*m.elements:][:m.elements])
	}
	return j >= 0
}

// valuesOf writes what each element is worth to an event, clamped to [0, 1].
func (m *Machine) valuesOf(e schemas.Event) bool {
	v := e.Vector
	if v.Indices == nil && len(v.Values) != m.elements || v.Indices != nil && len(v.Values) != len(v.Indices) {
		return false
	}
	clear(m.values)
	for k, x := range v.Values {
		at := k
		if v.Indices != nil {
			at = int(v.Indices[k])
		}
		if at < 0 || at >= m.elements || !(math.Abs(x) <= math.MaxFloat64) {
			return false
		}
		m.values[at] = max(0, min(1, x))
	}
	return true
}

// decide finds the set for what is released.
func (m *Machine) decide() {
	sum := m.stream.Sum(0)
	if m.shares != nil {
		m.shares.follow(sum, m.regulariser())
		m.shares.mean(m.point)
		return
	}
	if m.draws {
		m.draw()
	} else if m.leads {
		m.lead(sum)
	} else if m.histogram {
		total := 0.0
		for j, x := range sum {
			m.counts[j] = max(0, min(x, math.MaxFloat64/unit))
			total += m.counts[j]
		}
		set, value := m.greedy.weighted(m.plan.table, m.counts)
		copy(m.set, set)
		said := &m.extras[m.valueAt]
		said.Number = 0
		if total > 0 {
			said.Number = min(1, value/total)
		}
	} else {
		copy(m.set, m.greedy.byPosition(sum))
	}
	if m.named() {
		m.extras[0].Text = texts(m.plan.names, m.set)
	}
	for i, element := range m.set {
		m.point[i] = float64(element)
	}
}

// Steps counts the closed steps.
func (m *Machine) Steps() uint64 { return m.stream.Step() }

// Due gives the decision of step t the index t, where one is emitted.
func (m *Machine) Due(step uint64) (first uint64, count int) {
	if step == 0 || step%m.every != 0 {
		return 0, 0
	}
	return step, 1
}

// Guarantee is the stream's: what happens here after the private sum, or after its draws, is post-processing.
func (m *Machine) Guarantee() dp.Guarantee { return m.stream.Guarantee() }
