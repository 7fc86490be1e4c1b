// Package auditor plays the configured machine for package audit, and shows what was found. It opens the machine as
// `oriel run` would, without brokers, under a key that no service uses, and looks at what leaves it: releases of the
// private sum, and decisions.
//
//	neighbours   pairs of streams over the same noise, recorded and replayed: package operators/neighbours
//	attack       two streams that differ in one canary: which one had a run? A bound on the loss
//	history      the same records twice, and records that differ in next to nothing: noise is a function of all
//	restart      a machine that is written down and read back anywhere gives the bytes of one that is not
//	decisions    other events over the same releases and draws: equal decisions, so nothing else is in them
//	draws        indices drawn: have they the law of the exponential mechanism, and do their scores owe nothing to events?
//	distances    leaves of components with a quantiser, in pairs: is any farther from another than is claimed?
//	contribution sums    what steps add before any noise, beside a second opinion: no record adds more than its contribution
//	reset        two streams with other noise in their buffers: after a reset they add the same
//	far draws    a sampler of the auditor's, whose draws are up to 29 scales: they reach the release unchanged
//	clip         a gradient far beyond it along each coordinate alone
//	residuals    events of all kinds whose contributions are known: is the rest the plan's noise?
//	far tails    the mechanism at a large dimension, where draws are cheap: are there as many far out as there should be?
//
// Checks that compare bytes (neighbours, history, restart, decisions) play the machine exactly as it is configured. The
// others need to know leaves: their machine publishes each decision, `bandit` plays along coordinates, and `sets`
// explores from the start. In both, answers wait for their round and contexts for their reward, so a canary is sent
// early enough for its contribution to be added where the attack looks. With a memory, half of the runs of the
// residuals start two steps before a reset, on the private sum alone.
//
// All parts of a contribution are audited at once, against the guarantee of the whole, or one against its share: noise
// of all components has one law in units of each coordinate's own.
//
// Where leaves follow what was released before, an attack in the midst of a stream follows them: of one event, under
// Gaussian noise of one scale.
//
// What is played is here, what is made of it in mechanisms/audit and mechanisms/audit/residual.
//
// Overpaid is for `oriel plan`: which components do canaries never move by as much as the noise is for?
//
// Half of α is for the bounds of the attacks, in equal parts; half for the tests, in equal components. The rest is
// exact.
package auditor
