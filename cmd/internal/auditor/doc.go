// Package auditor plays the configured machine for package audit, and prints the findings. It opens the machine as
// `oriel run` would, without brokers, under a key that no service uses. It examines everything that leaves the machine:
// releases of the private sum, and decisions.
//
//	neighbours   pairs of streams over the same noise, recorded and replayed: package operators/neighbours
//	attack       two streams that differ in one canary: guess which one a run had. Gives a lower bound on the loss
//	history      the same records twice, and records with minimal differences: the noise must be a function of all of them
//	restart      a machine that is serialised and restored anywhere gives the same bytes as one that is not
//	decisions    other events over the same releases and draws: equal decisions, so they contain nothing else
//	draws        drawn indices: they must follow the exponential mechanism, with scores that do not depend on events
//	distances    pairs of contributions of components with a quantiser: none may be farther apart than claimed
//	contribution sums    sums of a step before any noise, beside a second computation: no record adds more than its contribution
//	reset        two streams with other noise in their buffers: after a reset they add the same
//	far draws    the auditor's own sampler, with draws up to 29 scales: they reach the release unchanged
//	clip         a gradient far beyond the clip along each coordinate alone
//	residuals    events of all kinds with known contributions: the rest of a release must be the plan's noise
//	far tails    the mechanism at a large dimension, where draws are cheap: are there as many far out as there should be?
//
// Checks that compare bytes (neighbours, history, restart, decisions) play the machine exactly as it is configured. The
// others must know contributions. Their machine publishes each decision, `bandit` plays along coordinates, and `sets`
// explores from the start. In both, feedback waits for its round, and contexts wait for their reward. So a canary is
// sent early enough that its contribution is added at the attacked step. With a memory, half of the runs of the
// residuals start two steps before a reset, on the private sum alone.
//
// An audit covers all components of a contribution together, against the guarantee of the whole, or one component
// against its share. The noise of all components has one distribution in units of each coordinate's scale.
//
// If contributions depend on earlier releases, an attack in the middle of a stream follows them. This needs a single
// event and Gaussian noise of one scale.
//
// This package plays the runs; mechanisms/audit and mechanisms/audit/residual evaluate them.
//
// Overpaid is for `oriel plan`: it returns the components that canaries never move by as much as their noise covers.
//
// Half of α is for the bounds of the attacks, in equal parts; half is for the tests, in equal components. The other
// checks are exact.
package auditor
