package pairs

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"oriel/cmd/internal/audit/subject"
	"oriel/cmd/internal/audit/traffic"
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
		return with, subject.None(with)
	}},
	{"any event and any other", func(e *exchange) (first, second operators.Record) { return e.any(), e.any() }},
	{"any event and none", func(e *exchange) (first, second operators.Record) {
		r := e.any()
		return r, subject.None(r)
	}},
	{"none and the opposite event", func(e *exchange) (first, second operators.Record) {
		_, without := e.canary(1)
		return subject.None(without), without
	}},
	{"a huge event and a tiny one", func(e *exchange) (first, second operators.Record) {
		with, _ := e.canary(huge)
		_, without := e.canary(tiny)
		return with, without
	}},
	{"a tiny event and none", func(e *exchange) (first, second operators.Record) {
		with, _ := e.canary(tiny)
		return with, subject.None(with)
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

// canary returns the reference model's next pair of events.
func (e *exchange) canary(factor float64) (with, without operators.Record) {
	return e.Reference.Canary(e.Direction, factor)
}

// any returns an event that the decoder could return or, without a decoder, an event of the reference model.
func (e *exchange) any() operators.Record {
	r, other := e.canary(math.Exp2(float64(8 - e.rng.IntN(16))))
	switch {
	case len(e.Subject.Events.Body.Members) > 0:
		r.Event = anyEvent(e.Subject, e.rng, r.Event)
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
	*subject.Sender
	at      []uint64 // steps that add the exchanged contributions
	rng     *rand.Rand
	traffic *traffic.Traffic // events at all other places; nil: null events
	users   int              // number of users so far
	all     []float64        // scratch space of the reference model
}

// newExchange returns a pair of streams; number seeds the events that both streams share.
func newExchange(a *subject.Subject, pair pairOfStreams, number uint64) (*exchange, error) {
	reference, err := operators.ReferenceModelOf(a.Operator, a.Params)
	if err != nil {
		return nil, err
	}
	reference.Begin()
	e := &exchange{
		at: pair.at, rng: a.Random("exchanged", number), all: make([]float64, a.WholeMechanism.Contribution.Entries()),
	}
	e.Sender = &subject.Sender{
		Subject: a, Reference: reference, Direction: pair.direction, Place: pair.place,
		Pair: func() (first, second operators.Record) { return pair.kind.both(e) },
		Due:  func(step uint64) bool { return slices.Contains(e.at, step) },
	}
	if pair.busy {
		e.traffic = traffic.New(a, reference)
		e.traffic.Begin("neighbours", number)
	}
	return e, nil
}

// Next implements neighbours.Source.
func (e *exchange) Next(step uint64, place int) neighbours.Couple {
	c := e.couple(step, place)
	if e.Subject.Users != nil && e.Subject.WholeMechanism.Batch > 0 {
		c = e.named(c, step, place)
	}
	e.Reference.Contribution(e.all, c.Record)
	return c
}

func (e *exchange) couple(step uint64, place int) neighbours.Couple {
	if place == 0 && e.traffic != nil {
		e.traffic.Step()
	}
	c, sent := e.At(step, place)
	if !sent && e.traffic != nil && place < 2 {
		r, a := e.traffic.Next(), e.Subject
		if any := e.rng.IntN(2) == 0 && a.Carriers == 1 && len(a.Events.Body.Members) > 0; any && !r.Null {
			r.Event = anyEvent(a, e.rng, r.Event)
		}
		c.Record, c.Neighbour = r, r
	}
	return c
}

// named sets the users of both records of a couple. Exchanged records belong to one user, and every other record to a
// user of its own. In the steps between the exchanged events, events of the exchanged user come too soon; they are
// exchanged too.
func (e *exchange) named(c neighbours.Couple, step uint64, place int) neighbours.Couple {
	separation, _ := e.Subject.Mechanism.Unit.EventSeparation()
	between := slices.ContainsFunc(e.at, func(at uint64) bool { return at < step && step < at+separation })
	if place == e.Place+1 && e.Due(step) || place == 0 && between {
		e.Aim()
		c = e.Carried(0)
		c.Record, c.Neighbour = c.Neighbour, c.Record
	}
	e.users++
	name := fmt.Appendf(nil, "user %d", e.users)
	if c.Exchanged {
		name = []byte("the user")
	}
	c.Record.Key, c.Neighbour.Key = name, name
	return c
}

// Observe implements neighbours.Source.
func (e *exchange) Observe(decisions []operators.Decision) { e.Reference.Observe(decisions) }
