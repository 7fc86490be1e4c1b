package names

import (
	"bytes"
	"cmp"
	"errors"
	"slices"

	"oriel/mechanisms"
	counted "oriel/mechanisms/names"
	"oriel/operators"
	"oriel/schemas/decision"
	"oriel/schemas/text"
)

// Machine counts names, and publishes those of each step whose counts with noise reach the threshold.
type Machine struct {
	operators.Base
	most int
	law  *counted.Law

	order   []counted.Listed // scratch: the published names in the order of the list
	list    []decision.Entry
	quoted  []byte // scratch
	point   [1]float64
	members *members
	extras  []decision.ExtraValue
}

const stateVersion = 1

// newMachine returns the machine at step 0. It then owns the stream.
func newMachine(c operator, stream *mechanisms.Stream) (*Machine, error) {
	if !stream.CountsNames() || stream.Terms() != c.terms {
		return nil, errors.New("names: the stream counts no names, or has other terms than the settings say")
	}
	law := stream.Names()
	m := &Machine{
		Base: operators.Base{Operator: "names", Stream: stream, Version: stateVersion},
		most: c.most, law: law, members: declare(),
	}
	m.extras = m.members.Values()
	m.members.threshold.Set(m.extras, float64(law.Threshold))
	m.members.deviation.Set(m.extras, law.Deviation)
	return m, nil
}

// Naming returns the names of the open step, which AppendState leaves out.
func (m *Machine) Naming() operators.Names { return m.Stream }

// Add counts the name of a record.
func (m *Machine) Add(r operators.Record) { m.Stream.AddName(r.Identity, nameOf(r)) }

// nameOf returns the name of a record, or nil for a null record.
func nameOf(r operators.Record) []byte {
	if r.Null || len(r.Event.Name) == 0 || len(r.Event.Name) > text.MaxNameBytes {
		return nil
	}
	return r.Event.Name
}

// Close publishes the names of the step.
func (m *Machine) Close(dst []operators.Decision) []operators.Decision {
	m.Stream.Close()
	m.decide(m.Stream.Listed())
	t := m.Stream.Step()
	return append(dst, operators.Decision{Index: t, Step: t, Point: m.point[:], Extras: m.extras})
}

// A list takes at most maxListBytes, so that a decision fits Kafka's usual limit of 1 MiB in each encoding. An entry is
// counted with all digits that its numbers could have, so that a name's place in the list does not depend on how its
// own count is written: see PROOF.md, Lemma 2.
const (
	maxListBytes = 1_000_000
	entryBytes   = len(`{"name":,"count":,"low":,"high":},`) + 3*20
)

// alpha is the probability that an interval misses the true count of a listed name.
const alpha = 0.05

// decide computes the decision of the step from the published counts alone.
func (m *Machine) decide(published []counted.Listed) {
	m.order = append(m.order[:0], published...)
	slices.SortFunc(m.order, func(a, b counted.Listed) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), bytes.Compare(a.Name, b.Name))
	})
	listed := m.room()
	cut := int64(0)
	if listed < len(m.order) {
		cut = m.order[listed].Count
	}
	m.list = m.list[:0]
	for _, x := range m.order[:listed] {
		floor := m.law.Threshold
		if listed < len(m.order) {
			floor = cut
			if bytes.Compare(x.Name, m.order[listed].Name) > 0 {
				floor++
			}
		}
		low, high := m.law.Interval(x.Count, floor, alpha)
		m.list = append(m.list, decision.Entry{
			Name: string(x.Name), Count: uint64(x.Count), Low: uint64(low), High: uint64(high),
		})
	}
	m.point[0] = float64(len(m.order))
	m.members.names.Set(m.extras, m.list)
	m.members.more.Set(m.extras, float64(len(m.order)-listed))
	m.members.cut.Set(m.extras, float64(cut))
}

// room returns how many of the first names the list takes. It ends before the first one that does not fit.
func (m *Machine) room() int {
	size := 0
	for i, x := range m.order[:min(len(m.order), m.most)] {
		m.quoted = text.AppendString(m.quoted[:0], string(x.Name))
		if size += len(m.quoted) + entryBytes; size > maxListBytes {
			return i
		}
	}
	return min(len(m.order), m.most)
}
