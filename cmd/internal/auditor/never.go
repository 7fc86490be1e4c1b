package auditor

// NotAttacked lists what no audit examines. deploy/PRIVACY.md has the same list.
var NotAttacked = []string{
	"decoding, the header that names a user, the pipeline beyond its walk of records, sealing, and times",
	"records that several deployments read",
	"the configured actions, in attacks and residuals: for these checks `bandit` acts along coordinates, and `sets` explores from the start (the checks of repetition, restart and decisions use the configured actions)",
	"the configured choice of steps to publish, in attacks and residuals: for these checks the machine publishes each step's decision (the checks of repetition, restart and decisions use the configured choice)",
	"the contribution of a reward that comes in the same step as its context",
	"canaries in streams that adapt to releases (residuals see contributions that follow decisions)",
	"ages and steps beyond the length of a run: 2.5 W up to W = 1024, W + W/2 + 1024 above it, one block above W = 170 000 (the private sum alone runs across resets of a memory)",
	"a second canary above W = 10 000, or of a pure tree",
	"the sampler's own tails beyond the reach of its draws, which the table prints",
	"bias and dependence that are too small for the number of runs, or between coordinates other than the 1024 compared",
	"noise below 2¹² lattice units (ε above some 10⁴)",
}
