package streams

import (
	"oriel/pipeline/kafka/records"
	"oriel/state/users"
)

// Users configures user-level privacy: the minimum distance between a user's events. Nil means event level.
type Users struct {
	Separation uint64 // s ≥ 1, steps between accepted events of one user
	Batch      uint64 // B, events per step
	Header     string // header with the user id; "": the record key is the user id
}

// Limiter returns the limiter of users under a secret, or nil at event level.
func (u *Users) Limiter(key [32]byte) (*users.Limiter, error) {
	if u == nil {
		return nil, nil
	}
	return users.New(u.Separation, u.Batch, key)
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
