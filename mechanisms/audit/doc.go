// Package audit computes lower bounds on the privacy loss of a mechanism only from the releases of many runs. The
// bounds rely on no proof, on no formula of the mechanism and on no assumption about its noise. Therefore a bound above
// the claim refutes the claim.
//
//	run        one stream from its first record, noise of its own, with or without the canary by a fair coin
//	canary     the event, or the user's events, in which two neighbouring streams differ
//	m_t        canary events in release t     D  distance of their two contributions, loss units     n  coordinates
//	σ, θ       noise scale of a node or a step, loss units      C  covariance of a coordinate's releases in units of σ²
//	score      log-likelihood ratio of a run's releases, with over without, nats, under the claimed law
//	N, r, k    runs, guesses of the coin, right guesses
//
// Bounds. A guess of the coin is right with probability at most Φ(µ/2) under µ-GDP (the trade-off curve's fixed point,
// Dong, Roth and Su 2022, Definition 2.6). A guess that may abstain is right with probability at most e^ε/(1 + e^ε)
// under ε-DP. Under (ε, δ)-DP a further Binomial(N, δ) of the guesses may be right (Kairouz, Oh and Viswanath 2015:
// such a pair is a function of randomised response that reveals everything with probability δ). The lower confidence
// limit of the rate is Clopper and Pearson's (1934): exact at any N. Both are the bounds of Steinke, Nasr and Jagielski
// 2023 for one canary a run; the audit by µ follows Nasr and others 2023.
//
// Statistics. The score is the most powerful statistic against the claimed law. For Gaussian noise its weights on the
// releases are C⁻¹m. For pure noise it takes the worst contribution, step 1 of a tree, whose releases 1, 2, 4, … are
// single nodes. It misses faults that move information elsewhere. A second, learned statistic therefore takes the
// covariance of chosen releases from the first runs and weighs the later runs by its inverse. Each threshold is fixed,
// by the claimed law or by the first runs, before the runs that it is applied to. All bounds hold at once with
// probability 1 − α.
//
// Limits. Even for a mechanism without noise, N runs bound µ only by 2·Φ⁻¹(α^{1/N}), and ε by about ln N. All events
// but the canary are null. Only the sums are observed, in the direction of one canary. Further checks cover other
// faults:
//
//   - CheckHistory and CheckChain: noise depends on every bit of the history. A fault there
//     changes no law of one run.
//   - CheckClip: every coordinate is clipped. CheckTail: draws reach the release unchanged.
//   - package residual: the noise of all coordinates and steps, rebuilt and compared with the calibration's.
//
// References:
//   - Clopper and Pearson, "The use of confidence or fiducial limits illustrated in the case of the binomial"
//     (Biometrika 1934)
//   - Dong, Roth and Su, "Gaussian differential privacy" (JRSS B 2022)
//   - Kairouz, Oh and Viswanath, "The composition theorem for differential privacy" (ICML 2015)
//   - Nasr and others, "Tight auditing of differentially private machine learning" (USENIX Security 2023)
//   - Steinke, Nasr and Jagielski, "Privacy auditing with one (1) training run" (NeurIPS 2023)
//
// Cost: the steps of a run, and n products a release. Duties of the caller: coins must be fair and secret from the
// machine, runs must be independent, and they must be added in order.
//
//	law, err := audit.NewLaw(config, calibration, canary)
//	a, err := audit.New(law, stream.Guarantee(), runs, 0.001)
//	observer := law.Observe()
//	observer.Release(stream.Sum(0)) // after every step
//	a.Add(observer.Result(audit.Coin(key, run)))
//	report := a.Report()
package audit
