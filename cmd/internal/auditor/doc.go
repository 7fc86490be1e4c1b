// Package auditor plays the configured machine for package audit, and shows what was found. It opens the machine as `oriel run` would, without
// brokers, under a key that no service uses, and looks at what leaves it: releases of the private sum, and decisions.
//
//	attack       two streams that differ in one canary: which one had a run? A bound on the loss        mechanisms/audit
//	history      the same records twice, and records that differ in next to nothing: noise is a function of all of them
//	restart      a machine that is written down and read back anywhere gives the same bytes as one that is not
//	decisions    other events over the same releases: equal decisions, so nothing but releases is in them
//	far draws    a sampler of the auditor's, whose draws are up to 29 scales: they reach the release unchanged
//	clip         a gradient far beyond it along each coordinate alone
//	residuals    events of all kinds whose leaves are known: is the rest the plan's noise?               mechanisms/audit/residual
//	far tails    the same mechanism at a large dimension, where draws are cheap: does the sampler draw far out as often as it should?
//
// Half of α is for the bounds of the attacks, in equal parts; half for the tests, in equal parts. The rest is exact.
package auditor
