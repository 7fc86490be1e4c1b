// Package users limits the accepted events of one user: the state for user-level privacy.
//
// A Limiter enforces a minimum distance between a user's events, where steps are by count.
//
//	s  separation, steps      B  events a step      t  step, from 1
//
// An event is accepted if its user's last accepted event is at least s steps back. Otherwise it takes its place as a
// null event. So a user has at most ⌈W/s⌉ accepted events among any W steps, the number in mechanisms/PROOF.md.
// Acceptance is a function of user and step only. The event's content has no effect, not even if it is invalid. There
// are at most B·s users to remember, in a state of constant length, which is private and must be sealed.
//
// Periods accept the first k records of a user in each period, or one record for each of the user's first m values,
// where steps are by the clock. Acceptance is a function of user and period, or of user, value and period. So the
// records of one user do not change which records of others are accepted, and without one of them at most one more
// record of the same user is accepted. A period may have any number of users, because users would share a limit, and so
// change each other's acceptance. Their ids are in the changelog, in sealed parts (state.Segment), and a state of
// constant length counts these parts.
//
// Users are remembered as 128 bits of HMAC-SHA-256 under a secret of the deployment. Two users with the same hash count
// as one user, which refuses more events but weakens no guarantee.
//
//	limiter, err := users.New(s, batch, key)
//	if !limiter.Admit(step, limiter.ID(user)) { null event }
//
//	periods, err := users.NewPeriods(k, key)
//	if !periods.Admit(period, periods.ID(user)) { the record contributes nothing }
//
//	values, err := users.NewValues(m, key)
//	if !values.AdmitValue(period, values.ID(user), value) { the record contributes nothing }
package users
