// Package users enforces a minimum distance between the accepted events of one user: the state for user-level privacy.
//
//	s  separation, steps      B  events a step      t  step, from 1
//
// An event is accepted if its user's last accepted event is at least s steps back. Otherwise it takes its place as a
// null event. So a user has at most ⌈W/s⌉ accepted events among any W steps, the number in mechanisms/PROOF.md.
// Acceptance is a function of user and step only. The event's content has no effect, not even if it is invalid.
//
// Users are remembered for s steps as 128 bits of HMAC-SHA-256 under a secret of the deployment. There are at most B·s
// of them, in a state of constant length, which is private and must be sealed. Two users with the same hash count as
// one user, which refuses more events but weakens no guarantee.
//
//	limiter, err := users.New(s, batch, key)
//	if !limiter.Admit(step, limiter.ID(user)) { null event }
package users
