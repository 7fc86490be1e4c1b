// Package auditor plays the configured machine for package audit, and prints the findings. It opens the machine as
// `oriel run` would, without brokers, under a key that no service uses. It examines everything that leaves the machine:
// releases of the private sum, and decisions.
//
//	neighbours   pairs of streams over the same noise, recorded and replayed (package operators/neighbours).
//	attack       two streams that differ in one event, the canary: guess which of them a run had. This gives a lower bound on
//	             the loss.
//	history      the same records twice, and records with minimal differences: the noise must be a function of all records.
//	restart      a machine that is serialised and restored at any point: it must give the same bytes as one that is not.
//	decisions    other events over the same releases and draws: decisions must be equal, so that they contain nothing else.
//	draws        drawn indices: they must follow the exponential mechanism, with scores that do not depend on events.
//	distances    pairs of contributions that a quantiser makes: none may be farther apart than the quantiser claims.
//	contribution sums    sums of a step before any noise, compared with a second computation: no record may add more than
//	             its contribution.
//	reset        two streams with different noise in their buffers: after a reset they must add the same noise.
//	far draws    draws up to 29 scales, from the auditor's own sampler: they must reach the release unchanged.
//	clip         a gradient far beyond the clip along a single coordinate, for each coordinate: it must be clipped.
//	residuals    events of all kinds with known contributions: the rest of a release must be the calibration's noise.
//	far tails    the mechanism at a large dimension, where draws are cheap: the number of draws far out must be right.
//
// Checks that compare bytes (neighbours, history, restart, decisions) play the machine exactly as it is configured. The
// other checks must know contributions. Their machine publishes each decision, `bandit` explores along coordinates, and
// `sets` explores from the start. In both operators, feedback waits for its round, and contexts wait for their reward.
// So a canary is sent so early that its contribution is added at the attacked step. With decaying sums, half of the
// residual runs start two steps before a reset, on the private sum alone.
//
// An audit covers all components of a contribution together, against the guarantee of the whole contribution, or one
// component against its share of the guarantee. The noise of all components has the same distribution in units of each
// coordinate's scale.
//
// If contributions depend on earlier releases, an attack in the middle of a stream follows the contributions. This is
// possible only for a single event and Gaussian noise of one scale.
//
// This package plays the runs; mechanisms/audit and mechanisms/audit/residual evaluate them.
//
// Overpaid is for `oriel plan`: it returns the components that canaries never move by as much as the components' noise
// covers.
//
// Half of α is for the bounds of the attacks, in equal shares; half is for the tests, in equal shares. The other checks
// are exact.
package auditor
