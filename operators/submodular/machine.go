package submodular

import (
	"encoding/binary"
	"errors"
	"slices"

	"oriel/mechanisms"
	"oriel/operators"
	"oriel/schemas/decision"
)

// Machine implements operators.Machine. The index of a decision is its step. No decision is due before the first
// record.
type Machine struct {
	operators.Base
	operator
	names []string // names of the elements
	rule  rule
	means *operators.Means // nil: decisions follow the newest sums, or are drawn

	set      []int // the newest set; at first the greedy set for one event of each type, or the first k elements
	point    []float64
	declared *members
	extras   []decision.ExtraValue
}

var _ operators.Machine = (*Machine)(nil)

// newMachine returns the machine at step 0 over a stream of the contribution. It takes ownership of the stream.
func newMachine(c operator, p params, stream *mechanisms.Stream) (*Machine, error) {
	c = c.withParams(p)
	size, entries := c.pick*c.elements, c.pick*c.elements // gains in the stream; numbers of an event
	switch c.rule {
	case byShares:
		size, entries = c.copies*c.elements, c.copies*c.elements
	case byHistogram:
		size, entries = len(c.types), 1
	}
	base := operators.Base{Operator: "submodular", Stream: stream, Every: c.every}
	err := base.CheckStream(size, entries, c.terms, c.batch)
	if err != nil {
		return nil, err
	}
	if (stream.Guarantee().Mechanism == mechanisms.ExponentialMechanism) != (c.rule == byDraws) {
		return nil, errors.New("submodular: stream and settings must both draw, or neither")
	}
	m := &Machine{
		Base: base, operator: c, names: p.names, set: c.first(p.table), point: make([]float64, c.pick), means: c.newMeans(p),
	}
	if m.rule, err = c.newRule(p, m.set, m.means); err != nil {
		return nil, err
	}
	if c.rule == byShares {
		m.point = make([]float64, c.elements)
	}
	m.declared = c.members()
	m.extras = m.declared.Values()
	m.defineState()
	return m, nil
}

// first returns the public set before any event: the greedy set for one event of each type, or the first k elements.
func (c operator) first(table []float64) []int {
	set := make([]int, c.pick)
	if len(c.types) == 0 {
		for i := range set {
			set[i] = i
		}
		return set
	}
	each := slices.Repeat([]float64{1}, len(c.types))
	best, _ := newGreedy(c.function, len(c.types), c.elements, c.pick).weighted(table, each)
	copy(set, best)
	return set
}

// Open appends no decision, because the first set is public.
func (m *Machine) Open(dst []operators.Decision) []operators.Decision { return dst }

// Add adds the contribution of the record. A record without a contribution counts as null.
func (m *Machine) Add(r operators.Record) { m.Stream.Add(r.Identity, m.contribution(r)) }

// Close publishes the set of the step, if a decision is due.
func (m *Machine) Close(dst []operators.Decision) []operators.Decision {
	m.Stream.Close()
	if m.means != nil {
		m.means.Learn(m.Stream)
	}
	t := m.Stream.Step()
	if t%m.every != 0 {
		return dst
	}
	m.rule.decide(m.Stream)
	m.rule.write(m.point)
	m.publish()
	return append(dst, operators.Decision{Index: t, Step: t, Point: m.point, Extras: m.extras})
}

// contribution returns the numbers that a record adds to the stream, or nil.
func (m *Machine) contribution(r operators.Record) []float64 {
	if contribution := m.Stream.Scratch(); !r.Null && m.rule.contribution(contribution, r.Event) {
		return contribution
	}
	return nil
}

// publish sets the members of a decision.
func (m *Machine) publish() {
	if m.named() {
		m.declared.places.Set(m.extras, operators.JoinNames(m.names, m.set))
	}
	switch rule := m.rule.(type) {
	case *histogramRule:
		m.declared.value.Set(m.extras, rule.value)
	case *continuousRule:
		if m.published {
			m.declared.points.Set(m.extras, rule.points)
		}
	}
}

// The fields of a state are the newest set, k elements u32; for shares the newest points, K·N f64; and means, k·N f64,
// if decisions follow means.
const stateVersion = 1

// defineState lists the fields of the state of a machine that newMachine has made.
func (m *Machine) defineState() {
	m.Version, m.Fields = stateVersion, []operators.Field{(*newestSet)(m)}
	if m.means != nil {
		m.Fields = append(m.Fields, m.means.Field())
	}
	s, ok := m.rule.(*continuousRule)
	if !ok {
		return
	}
	m.Fields = append(m.Fields, operators.Floats(s.points, func() error {
		for _, x := range s.points {
			if !(x >= 0 && x <= 1) {
				return errors.New("not points of the set")
			}
		}
		return nil
	}))
}

// newestSet is the state field of the newest set.
type newestSet Machine

func (n *newestSet) StateLen() int { return 4 * len(n.set) }

func (n *newestSet) AppendState(dst []byte) []byte {
	for _, element := range n.set {
		dst = binary.LittleEndian.AppendUint32(dst, uint32(element))
	}
	return dst
}

func (n *newestSet) Restore(state []byte) error {
	for i := range n.set {
		n.set[i] = int(binary.LittleEndian.Uint32(state[4*i:]))
		if n.set[i] >= n.elements || !n.repeats() && slices.Contains(n.set[:i], n.set[i]) {
			return errors.New("not a set of elements")
		}
	}
	return nil
}
