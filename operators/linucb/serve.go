package linucb

import (
	"unicode/utf8"

	"oriel/operators"
	"oriel/operators/pending"
)

// none is the choice in the action for a record that is not a context, or whose context does not wait.
const none = -1

// answerKind identifies whether an action answers a context, a reward or nothing. It depends only on keys and steps,
// like the table of waiting contexts, and is therefore public.
type answerKind byte

const (
	toNothing answerKind = iota // the record is neither a context nor a reward
	toContext                   // the record is a context, which waits from then on
	toReward                    // the record is the reward of a context that waited
)

// answerTexts are the texts of the answer kinds in actions.
var answerTexts = [...]string{toNothing: "nothing", toContext: "context", toReward: "reward"}

// serve takes a record if actions are served. Only its key decides its role. Under the key of a waiting context the
// record is the reward, and ends the wait with any contents. Under another key it is a context, if there is room. A key
// that is not UTF-8 cannot be written in a decision, and counts as no key. serve writes the contribution of a reward,
// and reports whether there is one.
func (m *Machine) serve(contribution []float64, r operators.Record) bool {
	if !utf8.Valid(r.Key) {
		r.Key = nil
	}
	t := m.Stream.Step() + 1
	for _, some := m.table.Expired(t); some; _, some = m.table.Expired(t) {
	}
	row, status := m.table.Take(r.Key, t)
	if status == pending.Done {
		m.answer(nil, none, toReward)
		return m.rewarded(contribution, row.Values, r)
	}
	clear(m.row)
	m.row[0] = none
	if !r.Null {
		m.row[0] = float64(m.choose(m.row[1:], r))
	}
	if m.table.Put(r.Key, t, m.row) != pending.Done {
		m.answer(nil, none, toNothing)
		return false
	}
	m.answer(r.Key, int(m.row[0]), toContext)
	return false
}

// rewarded writes the contribution of a reward and the context that waited for it.
func (m *Machine) rewarded(contribution, row []float64, r operators.Record) bool {
	choice := choiceOf(row[0])
	if r.Null || choice == none {
		return false
	}
	y, some := m.reward(r.Event)
	if !some {
		return false
	}
	copy(contribution[len(contribution)-len(row):], row[1:])
	m.close(contribution, choice, y)
	return true
}

// choose returns the choice for a context, the first among equals, and writes its z. If the event has no context, it
// returns none and writes zeros.
func (m *Machine) choose(z []float64, r operators.Record) int {
	best, most := none, 0.0
	clear(m.best)
	for choice := range m.choices() {
		if best == none || m.blocks() == 1 { // with several blocks, all arms have the same z
			if !m.context(z, r.Event.Vector, choice) {
				continue
			}
		}
		if score := m.model.score(m.block(choice), z); best == none || score > most {
			best, most = choice, score
			copy(m.best, z)
		}
	}
	copy(z, m.best)
	return best
}

// answer stores the answer to a record of the open step.
func (m *Machine) answer(key []byte, choice int, to answerKind) {
	k := len(m.actions)
	m.actions, m.answers[k] = append(m.actions, choice), to
	m.keys[k] = append(m.keys[k][:0], key...)
}

// act publishes the actions of the step that has closed.
func (m *Machine) act(dst []operators.Decision, t uint64) []operators.Decision {
	first, _ := m.indices(t)
	for k, choice := range m.actions {
		dst = append(dst, m.action(k, first+uint64(k), t, choice))
	}
	m.actions = m.actions[:0]
	return dst
}

// action returns the decision for the k-th record of a step. All actions for a key have one length in every encoding,
// because a length must not reveal which action a context has. The member space fills up the texts, and filler fills up
// the choice, which takes a variable number of bytes in JSON only.
func (m *Machine) action(k int, index, step uint64, choice int) operators.Decision {
	extras := m.actionExtras[k*len(m.extras):][:len(m.extras)]
	copy(extras, m.extras)
	name, answer := "", answerTexts[m.answers[k]]
	if choice >= 0 && choice < len(m.arms) {
		name = m.arms[choice]
	}
	m.members.answers.Set(extras, answer)
	m.members.arm.Set(extras, name)
	m.members.key.Set(extras, string(m.keys[k]))
	m.members.space.Set(extras, m.spaces[len(name)+len(answer):])
	m.members.filler.Set(extras, fillers[m.digits-characters(choice)])
	m.points[k] = float64(choice)
	return operators.Decision{Index: index, Step: step, Output: 1, Point: m.points[k : k+1], Extras: extras}
}

// fillers are values of the member filler, by the number of characters that a choice lacks to the longest one.
var fillers = [...]float64{1, 10, 100, 1000}

// longest returns the largest number of bytes that the name of an arm and the answer kind take in an action.
func (c operator) longest() int {
	name, answer := 0, 0
	for _, arm := range c.arms {
		name = max(name, len(arm))
	}
	for _, text := range answerTexts {
		answer = max(answer, len(text))
	}
	return name + answer
}

// characters returns the number of characters that a choice takes in JSON.
func characters(choice int) int {
	n := 1
	if choice < 0 {
		n = 2
	}
	for x := choice; x >= 10; x /= 10 {
		n++
	}
	return n
}
