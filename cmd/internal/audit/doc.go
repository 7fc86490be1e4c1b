// Package audit plays the configured machine under a key that no service uses, and prints the findings. It opens the
// machine as `oriel run` would, without brokers, and examines everything that leaves the machine: releases of the
// private sum, and decisions. The rooms below play the runs; mechanisms/audit and mechanisms/audit/residual evaluate
// them.
//
//	subject    the configured machine: its contributions, canaries, and a player of its runs
//	traffic    background events of all kinds with known contributions
//	work       runs on all processors, until a number or a deadline
//	pairs      pairs of streams over the same noise, recorded and replayed (package operators/neighbours)
//	attack     two streams that differ in one event, the canary: a lower bound on the loss
//	residuals  the rest of a release after known contributions: it must be the calibration's noise
//	exact      checks without statistics: restarts, decisions, draws, contributions and resets
//	presence   names: is a unit present whose names nobody has, or others too
//	overpaid   noise for more than an event can move; for `oriel plan`
//
// Checks that compare bytes play the machine exactly as it is configured. The other checks must know contributions.
// Their machine publishes each decision, `bandit` explores along coordinates, and `sets` explores from the start. In
// both operators, feedback waits for its round, and contexts wait for their reward. So a canary is sent so early that
// its contribution is added at the attacked step.
//
// An audit covers all components of a contribution together, against the guarantee of the whole contribution, or one
// component against its share of the guarantee. The noise of all components has the same distribution in units of each
// coordinate's scale.
//
// Half of α is for the bounds of the attacks, in equal shares; half is for the tests, in equal shares. The other checks
// are exact.
package audit
