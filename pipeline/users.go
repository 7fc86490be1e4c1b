package pipeline

import (
	"oriel/pipeline/kafka"
	"oriel/schemas"
	"oriel/state/users"
)

// Users configures user-level privacy.
type Users struct {
	Separation uint64 // s, steps between two accepted events of one user; 0 is event level
	Batch      uint64 // B, events a step
	Header     string // the header that names the user; the record key when empty
}

func (u Users) limiter(key [32]byte) (*users.Limiter, error) {
	if u.Separation == 0 {
		return nil, nil
	}
	return users.New(u.Separation, u.Batch, key)
}

// User returns who a record is of: its key, or its one header of the configured name, if it has at least one byte. It is nil at event
// level, and for a record that names nobody.
func (s *Stream) User(r *kafka.Record) *users.ID {
	if s.limiter == nil {
		return nil
	}
	name := r.Key
	if s.users.Header != "" {
		found := 0
		for _, h := range r.Headers {
			if h.Key == s.users.Header {
				name = h.Value
				found++
			}
		}
		if found != 1 {
			return nil
		}
	}
	return s.Named(name)
}

// Named returns a user of a user-level stream by name; an empty name is nobody's.
func (s *Stream) Named(name []byte) *users.ID {
	if len(name) == 0 {
		return nil
	}
	s.user = s.limiter.ID(name)
	return &s.user
}

// Forget lets go of the users whose last accepted event lies s steps before the open one. It comes BEFORE a record's user is looked up among
// those remembered.
func (s *Stream) Forget() {
	if s.limiter != nil {
		s.limiter.Forget(s.machine.Steps()+1, s.forgotten)
	}
}

// admit applies the separation. Whether the event says anything does not matter: an accepted user has had the turn.
func (s *Stream) admit(user *users.ID) schemas.Code {
	if s.limiter == nil {
		return schemas.OK
	}
	s.Forget()
	switch {
	case user == nil:
		return schemas.NoUser
	case !s.limiter.Admit(s.machine.Steps()+1, *user):
		return schemas.TooSoon
	}
	return schemas.OK
}
