package linucb

import (
	"strings"

	"oriel/mechanisms"
	"oriel/operators"
	"oriel/operators/pending"
	"oriel/schemas/decision"
)

// Machine implements operators.Machine. No decision is due before the first record.
//
// With ORIEL_PLAYED=logged the model of step t has the index t. If actions are served, each step has B+1 indices: one
// for the action of each record, and one for the model.
type Machine struct {
	operators.Base
	operator
	model *model
	table *pending.Table // rows of contexts that wait: the choice, −1 for none, and its z; nil if events are logged
	// actions holds the answers to the records of the open step, if actions are served: a choice, or −1.
	actions []int
	keys    [][]byte
	answers []answerKind // kind of each answer in actions

	row          []float64 // a row of the table, scratch
	best         []float64 // z of the best choice so far, scratch
	members      *members
	extras       []decision.ExtraValue
	points       []float64             // points of a step's actions
	actionExtras []decision.ExtraValue // extras of a step's actions
	spaces       string
	digits       int // largest number of characters of a choice
}

// newMachine returns the machine at step 0 over a stream of the rows' contribution. It takes ownership of the stream.
func newMachine(c operator, stream *mechanisms.Stream) (*Machine, error) {
	base := operators.Base{Operator: "linucb", Stream: stream}
	err := base.CheckStream(c.rows.Size(), c.rows.Entries(), c.terms, c.batch)
	if err != nil {
		return nil, err
	}
	d := c.rows.Features
	m := &Machine{Base: base, operator: c, row: make([]float64, 1+d), best: make([]float64, d)}
	if m.model, err = newModel(c, stream); err != nil {
		return nil, err
	}
	m.members = c.members()
	m.extras = m.members.Values()
	if c.served {
		if m.table, err = pending.New(c.waiting); err != nil {
			return nil, err
		}
		m.actions, m.keys, m.answers = make([]int, 0, c.batch), make([][]byte, c.batch), make([]answerKind, c.batch)
		for i := range m.keys {
			m.keys[i] = make([]byte, 0, maxName)
		}
		m.spaces = strings.Repeat(" ", c.longest())
		m.digits = max(characters(none), characters(c.choices()-1))
		m.points, m.actionExtras = make([]float64, c.batch), make([]decision.ExtraValue, int(c.batch)*len(m.extras))
	}
	m.note()
	m.defineState()
	return m, nil
}

// Open appends no decision, because the first weights are zero and therefore known.
func (m *Machine) Open(dst []operators.Decision) []operators.Decision { return dst }

// Add takes a record: an event with its reward or, if actions are served, either a context or a reward.
func (m *Machine) Add(r operators.Record) {
	contribution, some := m.Stream.Scratch(), false
	r.Null = r.Null || !m.usable(r.Event)
	if m.served {
		some = m.serve(contribution, r)
	} else {
		some = m.learn(contribution, r)
	}
	if !some {
		contribution = nil
	}
	m.Stream.Add(r.Identity, contribution)
}

// Close publishes the actions of the step and, if it is due, the model.
func (m *Machine) Close(dst []operators.Decision) []operators.Decision {
	m.Stream.Close()
	t := m.Stream.Step()
	dst = m.act(dst, t)
	if t%m.every != 0 {
		return dst
	}
	m.model.solve(m.Stream.Sum(0), t)
	m.note()
	_, index := m.indices(t)
	return append(dst, operators.Decision{Index: index, Step: t, Point: m.model.weights, Extras: m.extras})
}

// note writes the members that describe the model, which each decision has.
func (m *Machine) note() {
	width, shift := m.model.widest()
	m.members.width.Set(m.extras, width)
	m.members.shift.Set(m.extras, shift)
	m.members.doublings.Set(m.extras, float64(m.model.doublings))
}

// learn writes the contribution of a logged event.
func (m *Machine) learn(contribution []float64, r operators.Record) bool {
	if r.Null {
		return false
	}
	choice, d := choiceOf(r.Event.Numbers[0]), m.rows.Features
	y, some := m.reward(r.Event)
	if !some || !m.context(contribution[len(contribution)-1-d:len(contribution)-1], r.Event.Vector, choice) {
		return false
	}
	m.close(contribution, choice, y)
	return true
}

// close completes a contribution that already contains z, with the reward y.
func (m *Machine) close(contribution []float64, choice int, y float64) {
	contribution[len(contribution)-1] = y
	if m.blocks() > 1 {
		contribution[0] = float64(m.block(choice))
	}
}

// choiceOf converts x to a place in a list of choices, or returns −1 if x is no place.
func choiceOf(x float64) int {
	if !(x >= 0 && x < maxArms) || x != float64(int(x)) {
		return -1
	}
	return int(x)
}

// indices returns the index of a step's first action, and the index of its model.
func (m *Machine) indices(t uint64) (first, model uint64) {
	if !m.served {
		return t, t
	}
	return (t-1)*(m.batch+1) + 1, t * (m.batch + 1)
}

// Due returns the actions of a step and, once in ORIEL_EMIT_EVERY steps, its model.
func (m *Machine) Due(step uint64) (first uint64, count int) {
	if step == 0 {
		return 0, 0
	}
	first, _ = m.indices(step)
	if m.served {
		count = int(m.batch)
	}
	if step%m.every == 0 {
		count++
	}
	if count == 0 {
		return 0, 0
	}
	return first, count
}
