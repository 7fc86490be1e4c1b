package auditor

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"oriel/operators"
	"oriel/operators/neighbours"
)

// exchangeKind makes the two events that are exchanged between a pair of streams.
type exchangeKind struct {
	name string
	both func(e *exchange) (first, second operators.Record)
}

// The smallest and the largest factor by which canaries are scaled.
const (
	tiny = 0x1p-24
	huge = 0x1p40
)

// exchangeKinds lists the pairs of events that the check tries. The events are at both ends of the clip, beyond it and
// far below it, or of any cell, type or arm. In some pairs a null event takes the place of an event, or numbers are
// such as no decoder returns.
var exchangeKinds = []exchangeKind{
	{"an event and its opposite", func(e *exchange) (first, second operators.Record) { return e.canary(1) }},
	{"an event and none", func(e *exchange) (first, second operators.Record) {
		with, _ := e.canary(1)
		return with, none(with)
	}},
	{"any event and any other", func(e *exchange) (first, second operators.Record) { return e.any(), e.any() }},
	{"any event and none", func(e *exchange) (first, second operators.Record) {
		r := e.any()
		return r, none(r)
	}},
	{"none and the opposite event", func(e *exchange) (first, second operators.Record) {
		_, without := e.canary(1)
		return none(without), without
	}},
	{"a huge event and a tiny one", func(e *exchange) (first, second operators.Record) {
		with, _ := e.canary(huge)
		_, without := e.canary(tiny)
		return with, without
	}},
	{"a tiny event and none", func(e *exchange) (first, second operators.Record) {
		with, _ := e.canary(tiny)
		return with, none(with)
	}},
	{"an event and one that is not finite", func(e *exchange) (first, second operators.Record) {
		with, without := e.canary(1)
		return with, spoiled(without, math.NaN())
	}},
	{"an event and one beyond all numbers", func(e *exchange) (first, second operators.Record) {
		with, without := e.canary(1)
		return spoiled(with, math.MaxFloat64), without
	}},
}

// none returns the null event in place of an event. It keeps the record key, because keys are public.
func none(r operators.Record) operators.Record { return operators.Record{Null: true, Key: r.Key} }

// canary returns the reference model's next pair of events.
func (e *exchange) canary(factor float64) (with, without operators.Record) {
	return e.reference.Canary(e.direction, factor)
}

// any returns an event that the decoder could return or, without a decoder, an event of the reference model.
func (e *exchange) any() operators.Record {
	r, other := e.canary(math.Exp2(float64(8 - e.rng.IntN(16))))
	switch {
	case len(e.subject.events.Body.Members) > 0:
		r.Event = e.subject.anyEvent(e.rng, r.Event)
	case e.rng.IntN(2) == 0:
		return other
	}
	return r
}

// spoiled returns the event with all its numbers replaced by x.
func spoiled(r operators.Record, x float64) operators.Record {
	r.Event.Vector.Values, r.Event.Numbers = slices.Clone(r.Event.Vector.Values), slices.Clone(r.Event.Numbers)
	for i := range r.Event.Vector.Values {
		r.Event.Vector.Values[i] = x
	}
	for i := range r.Event.Numbers {
		r.Event.Numbers[i] = x
	}
	return r
}

// exchange is a neighbours.Source: a stream in which the event of one canary is exchanged, with the records that carry
// the event. Another event under the same key follows, equal in both streams.
//
// At user level all events of a user are exchanged. Some further events of the user come too soon after another of the
// user's events; they must add nothing.
type exchange struct {
	subject   *Subject
	reference operators.ReferenceModel
	kind      exchangeKind
	direction []float64
	place     int      // place of the canary's records in their steps
	at        []uint64 // steps that add the exchanged contributions
	rng       *rand.Rand
	traffic   *traffic // events at all other places; nil: null events
	carrying  [2][]operators.Record
	users     int       // number of users so far
	all       []float64 // scratch space of the reference model
}

// newExchange returns a pair of streams; number seeds the events that both streams share.
func (a *Subject) newExchange(pair pairOfStreams, number uint64) (*exchange, error) {
	reference, err := operators.ReferenceModelOf(a.operator, a.public)
	if err != nil {
		return nil, err
	}
	reference.Begin()
	e := &exchange{
		subject: a, reference: reference, kind: pair.kind, direction: pair.direction, place: pair.place, at: pair.at,
		rng: a.random("exchanged", number), all: make([]float64, a.wholeMechanism.Contribution.Entries()),
	}
	if pair.busy {
		e.traffic = a.newTraffic(reference)
		e.traffic.begin("neighbours", number)
	}
	return e, nil
}

// Next implements neighbours.Source.
func (e *exchange) Next(step uint64, place int) neighbours.Couple {
	c := e.couple(step, place)
	if e.subject.users != nil {
		c = e.named(c, step, place)
	}
	e.reference.Contribution(e.all, c.Record)
	return c
}

func (e *exchange) couple(step uint64, place int) neighbours.Couple {
	if place == 0 && e.traffic != nil {
		e.traffic.step()
	}
	a := e.subject
	for i := range a.carriers {
		if place != e.place || !slices.Contains(e.at, step+a.lag+uint64(a.carriers-1-i)) {
			continue
		}
		if i == 0 {
			e.aim()
		}
		return neighbours.Couple{Record: e.carrying[0][i], Neighbour: e.carrying[1][i], Exchanged: true}
	}
	r := operators.Record{Null: true}
	switch last := step - 1 + a.lag; {
	case place == 0 && step > 1 && slices.Contains(e.at, last):
		r = e.echo()
	case e.traffic != nil && place < 2:
		r = e.traffic.next()
		if any := e.rng.IntN(2) == 0 && a.carriers == 1 && len(a.events.Body.Members) > 0; any && !r.Null {
			r.Event = a.anyEvent(e.rng, r.Event)
		}
	}
	return neighbours.Couple{Record: r, Neighbour: r}
}

// named sets the users of both records of a couple. Exchanged records belong to one user, and every other record to a
// user of its own. In the steps between the exchanged events, events of the exchanged user come too soon; they are
// exchanged too.
func (e *exchange) named(c neighbours.Couple, step uint64, place int) neighbours.Couple {
	separation, _ := e.subject.mechanism.Unit.EventSeparation()
	between := slices.ContainsFunc(e.at, func(at uint64) bool { return at < step && step < at+separation })
	if place == e.place+1 && slices.Contains(e.at, step) || place == 0 && between {
		e.aim()
		c = neighbours.Couple{Record: e.carrying[1][0], Neighbour: e.carrying[0][0], Exchanged: true}
	}
	e.users++
	name := fmt.Appendf(nil, "user %d", e.users)
	if c.Exchanged {
		name = []byte("the user")
	}
	c.Record.Key, c.Neighbour.Key = name, name
	return c
}

// aim prepares the records of the next canary.
func (e *exchange) aim() {
	first, second := e.kind.both(e)
	if e.subject.mechanism.Unit.AgainstNull() && !first.Null && !second.Null {
		second = none(first)
	}
	e.carrying[0], _ = e.reference.Records(first)
	e.carrying[1], _ = e.reference.Records(second)
}

// echo returns an event under the canary's record key.
func (e *exchange) echo() operators.Record {
	key := e.carrying[0][0].Key
	if len(key) == 0 {
		return operators.Record{Null: true}
	}
	event, _ := e.reference.Canary(e.direction, 1)
	all, _ := e.reference.Records(event)
	r := all[len(all)-1]
	r.Key = key
	return r
}

// Observe implements neighbours.Source.
func (e *exchange) Observe(decisions []operators.Decision) { e.reference.Observe(decisions) }
