package streams

import (
	"oriel/mechanisms/steps"
	"oriel/pipeline/kafka/records"
	"oriel/schemas/event"
	"oriel/schemas/text"
	"oriel/state/users"
)

// Users configures user-level privacy. Nil means event level. Where steps are by count, it is the minimum distance
// between a user's events. Where they are by the clock, it is the number of a user's events in a period.
type Users struct {
	Separation uint64 // s ≥ 1, steps between accepted events of one user; 0 with a Period
	Batch      uint64 // B, events per step; 0 with a Period

	Period steps.Clock // whole steps; the zero value where steps are by count
	Events uint64      // k ≥ 1, events of one user in a period; 0 without a Period, and with Values
	Values uint64      // m ≥ 1, different values of one user in a period, for an operators.Distinct; 0: events count

	Header string // header with the user id; "": the record key is the user id
}

// user is the user whom a record names, if it names one.
type user struct {
	id    users.ID
	named bool
}

// peopleState is what a stream remembers of users. Its state has a constant length.
type peopleState interface {
	ID(user []byte) users.ID
	Clone() *users.Hasher
	StateLen() int
	AppendState(dst []byte) []byte
	Restore(state []byte) error
}

// Limiter returns the limiter of users under a secret, or nil at event level and where steps are by the clock.
func (u *Users) Limiter(key [32]byte) (*users.Limiter, error) {
	if u == nil || !u.Period.Counts() {
		return nil, nil
	}
	return users.New(u.Separation, u.Batch, key)
}

// openUsers sets what the stream remembers of users, under a secret. At event level it remembers nothing.
func (s *Stream) openUsers(u *Users, key [32]byte) (err error) {
	if u != nil && !u.Period.Counts() {
		if u.Values > 0 {
			s.periods, err = users.NewValues(u.Values, key)
		} else {
			s.periods, err = users.NewPeriods(u.Events, key)
		}
		s.people = s.periods
		return err
	}
	if s.limiter, err = u.Limiter(key); s.limiter != nil {
		s.people = s.limiter
	}
	return err
}

// periodOf returns the period of a slot.
func (s *Stream) periodOf(slot int64) uint64 { return s.opened.model.Users.Period.Of(slot) }

// admitInPeriod applies the limit of a user's events in a period. A record counts by its user and its slot alone, even
// if it is no event. A record without a user counts for nobody. The limit of a user's values is applied by isNew, when
// the event is decoded.
func (s *Stream) admitInPeriod(of user, slot int64) text.Code {
	switch {
	case !of.named:
		return text.NoUser
	case s.opened.model.Users.Values == 0 && !s.periods.Admit(s.periodOf(slot), of.id):
		return text.TooMany
	}
	return text.OK
}

// isNew applies the limit of a user's values in a period to an event. Without such a limit every event is new. An
// event that is not new contributes nothing. It is no dead letter, because its user is counted already, or in as many
// cells as may be.
func (s *Stream) isNew(of user, e event.Event, slot int64) (is bool) {
	if users := s.opened.model.Users; users == nil || users.Values == 0 {
		return true
	}
	s.value, is = s.opened.distinct.Value(s.value[:0], e)
	return is && s.periods.AdmitValue(s.periodOf(slot), of.id, s.value)
}

// of returns the user of a record.
func (u *Users) of(r *records.Record, id func(name []byte) users.ID) (of user) {
	if name := u.name(r); len(name) > 0 {
		of = user{id(name), true}
	}
	return of
}

// name returns the user of a record: its key, or its one header of the configured name. It is empty if the record names
// no user.
func (u *Users) name(r *records.Record) []byte {
	if u.Header == "" {
		return r.Key
	}
	var name []byte
	found := 0
	for header, value := range r.Headers.All() {
		if string(header) == u.Header {
			name = value
			found++
		}
	}
	if found != 1 {
		return nil
	}
	return name
}
