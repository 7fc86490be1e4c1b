// Package users keeps the accepted events of one user apart: the state behind user-level privacy.
//
//	s  separation, steps      B  events a step      t  step, from 1
//
// An event is accepted when its user's last accepted event lies at least s steps back; otherwise it takes its place as
// a null event. So a user has at most ⌈W/s⌉ accepted events among any W steps, which is what mechanisms/PROOF.md
// counts. Acceptance is a function of user and step alone: what the event says, and whether it says anything, changes
// nothing.
//
// Users are remembered for s steps as 128 bits of HMAC-SHA-256 under a secret of the deployment, B·s of them at most,
// and stored in a state of constant length: private, for sealing only. Two users with one hash would share a place,
// which loses events and no privacy.
//
//	limiter, err := users.New(s, batch, key)
//	if !limiter.Admit(step, limiter.ID(user)) { null event }
package users
