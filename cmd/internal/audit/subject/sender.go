package subject

import (
	"oriel/operators"
	"oriel/operators/neighbours"
)

// Sender sends a pair of events, each in one of two neighbouring streams, and null records at all other places. It
// sends the records of an event at one place of successive steps. It starts so early that each contribution is added in
// a step for which Due is true. After a pair with a key, two more records with the same key follow, equal in both
// streams. They stand for records of another sender that reuses the key, and they must not add the event again.
type Sender struct {
	Subject   *Subject
	Reference operators.ReferenceModel // the model that observes the stream's decisions
	Direction []float64                // direction of the events under repeated keys
	Pair      func() (first, second operators.Record)
	Due       func(step uint64) bool
	Place     int
	Events    int                   // events of a unit in one step, from Place on, each with its own pair; 0: one
	first     int                   // number of the event at Place, if events of a unit have different values
	number    int                   // number of the next event
	records   [2][]operators.Record // records of the last pair
}

// Sender returns the sender of canaries along u and of their replacements.
func (p *Player) Sender(u []float64, due func(step uint64) bool) *Sender {
	s := &Sender{
		Subject: p.Subject, Reference: p.Reference, Direction: u, Due: due,
		Events: int(p.Subject.Mechanism.Unit.StepEvents()),
	}
	s.Pair = func() (first, second operators.Record) { return p.Reference.Canary(u, 1) }
	if many, is := p.Reference.(operators.ManyValues); is && p.Subject.Mechanism.Unit.Apart() {
		s.Pair = func() (first, second operators.Record) { return many.CanaryOf(s.number, u, 1) }
	}
	return s
}

// At returns the records at a place in a step. The records of a pair are exchanged. sent is false if the place is free,
// where both records are null.
func (s *Sender) At(step uint64, place int) (c neighbours.Couple, sent bool) {
	a := s.Subject
	for i := range a.Carriers {
		if !s.Due(step + a.Lag + uint64(a.Carriers-1-i)) {
			continue
		}
		if place >= s.Place && place < s.Place+max(1, s.Events) {
			if i == 0 {
				s.number = s.first + place - s.Place
				s.Aim()
			}
			return s.Carried(i), true
		}
		if place == s.Place+1 && i == a.Carriers-1 {
			return s.echo()
		}
	}
	if last := step - 1 + a.Lag; place == 0 && step > 1 && s.Due(last) {
		return s.echo()
	}
	return both(operators.Record{Null: true}), false
}

// Aim prepares the records of the next pair.
func (s *Sender) Aim() {
	first, second := s.Pair()
	if s.Subject.Mechanism.Unit.AgainstNull() && !first.Null && !second.Null {
		second = None(first)
	}
	s.records[0], _ = s.Reference.Records(first)
	s.records[1], _ = s.Reference.Records(second)
}

// Carried returns record i of each event of the last pair.
func (s *Sender) Carried(i int) neighbours.Couple {
	return neighbours.Couple{Record: s.records[0][i], Neighbour: s.records[1][i], Exchanged: true}
}

// None returns the null event in place of an event. It keeps the record key, because keys are public.
func None(r operators.Record) operators.Record { return operators.Record{Null: true, Key: r.Key} }

// echo returns an event under the key of the last pair, the same in both streams.
func (s *Sender) echo() (c neighbours.Couple, sent bool) {
	if len(s.records[0]) == 0 || len(s.records[0][0].Key) == 0 {
		return both(operators.Record{Null: true}), false
	}
	first, _ := s.Reference.Canary(s.Direction, 1)
	all, _ := s.Reference.Records(first)
	r := all[len(all)-1]
	r.Key = s.records[0][0].Key
	return both(r), true
}

// both returns the couple of a record that is in both streams.
func both(r operators.Record) neighbours.Couple { return neighbours.Couple{Record: r, Neighbour: r} }

// In returns the record of the stream with the pair's first events, or of the other stream.
func In(c neighbours.Couple, first bool) operators.Record {
	if first {
		return c.Record
	}
	return c.Neighbour
}
