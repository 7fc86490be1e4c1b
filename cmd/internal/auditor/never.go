package auditor

// NotAttacked lists what no audit examines. deploy/PRIVACY.md has the same list.
var NotAttacked = []string{
	"decoding, the header that names a user, the pipeline behind its walk of records, sealing, times",
	"a second life of a deployment (`ORIEL_AFTER`)",
	"attacks and noise beside leaves on plays as they go out: `bandit` plays along coordinates there, `sets` explores from the start, and each step's decision is published; repetition, restart and decisions are checked on the machine as configured",
	"the leaf of a reward that comes in the same step as its context",
	"canaries in streams that adapt to releases (residuals see leaves that follow decisions)",
	"ages and steps beyond a run's (2.5 W up to W = 1024, W + W/2 + 1024 above it, one block above W = 170 000), but for the resets of a memory, which the private sum alone is taken across",
	"a second canary above W = 10 000 or of a pure tree",
	"the sampler's own tails beyond what its draws reach, which the table prints",
	"bias and dependence too small for the runs made, or between coordinates other than 1024",
	"noise below 2¹² lattice units (ε above some 10⁴)",
}
