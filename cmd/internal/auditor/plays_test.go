package auditor

import (
	"testing"

	"oriel/mechanisms"
	"oriel/mechanisms/mechtest/tiertest"
)

// kindsOfPlays are bandits of all kinds.
var kindsOfPlays = [][]string{
	{"ORIEL_OPERATOR=arms", "ORIEL_ARMS=a,b,c", "ORIEL_MECHANISM=once-gamma", "ORIEL_WINDOW=lifetime", "ORIEL_BATCH=2"},
	{
		"ORIEL_OPERATOR=arms", "ORIEL_ARMS=a,b", "ORIEL_RULE=exp3", "ORIEL_MECHANISM=once-gaussian",
		"ORIEL_WINDOW=lifetime", "ORIEL_ADJACENCY=zero-out",
	},
	{
		"ORIEL_OPERATOR=bandit", "ORIEL_SET=l2-ball", "ORIEL_RADIUS=1", "ORIEL_DIMENSION=3", "ORIEL_MECHANISM=blt",
		"ORIEL_WINDOW=horizon", "ORIEL_HORIZON=16", "ORIEL_DOUBLING=true", "ORIEL_BATCH=2",
	},
	{
		"ORIEL_OPERATOR=bandit", "ORIEL_SET=box", "ORIEL_RADIUS=1", "ORIEL_DIMENSION=2", "ORIEL_MECHANISM=tree-gaussian",
		"ORIEL_WINDOW=8", "ORIEL_SMOOTHING=0.2", "ORIEL_RATE=0.1", "ORIEL_UPDATE=projection", "ORIEL_BASELINE=0.5",
	},
	{
		"ORIEL_OPERATOR=bandit", "ORIEL_SET=l1-ball", "ORIEL_RADIUS=1", "ORIEL_DIMENSION=2", "ORIEL_MECHANISM=blt",
		"ORIEL_WINDOW=lifetime", "ORIEL_MEMORY=8", "ORIEL_SMOOTHING=0.2", "ORIEL_RATE=0.1",
	},
	{
		"ORIEL_OPERATOR=bandit", "ORIEL_SET=box", "ORIEL_RADIUS=1", "ORIEL_DIMENSION=2", "ORIEL_MECHANISM=blt",
		"ORIEL_WINDOW=8", "ORIEL_SMOOTHING=0.2", "ORIEL_RATE=0.1", "ORIEL_ADJACENCY=zero-out", "ORIEL_BASELINE=0.5",
	},
	{
		"ORIEL_OPERATOR=bandit", "ORIEL_SET=simplex", "ORIEL_RADIUS=1", "ORIEL_DIMENSION=3", "ORIEL_MECHANISM=tree-gaussian",
		"ORIEL_WINDOW=8", "ORIEL_SMOOTHING=0.2", "ORIEL_RATE=0.1",
	},
	{
		"ORIEL_OPERATOR=bandit", "ORIEL_SET=partition", "ORIEL_BLOCKS=2:1,3:2", "ORIEL_RADIUS=1", "ORIEL_DIMENSION=5",
		"ORIEL_MECHANISM=blt", "ORIEL_WINDOW=lifetime", "ORIEL_MEMORY=8", "ORIEL_SMOOTHING=0.2", "ORIEL_RATE=0.1",
	},
}

// Losses of canaries show all of the claim at the first step, whatever the noise, and none passes it.
func TestAuditOfPlaysReachesTheClaim(t *testing.T) {
	for _, lines := range kindsOfPlays {
		a := subjectOf(t, lines...)
		r := audited(t, a, tiertest.Runs(100, 300))
		if err := r.Verdict(); err != nil {
			t.Errorf("%v: %v", lines, err)
		}
		claim := a.guarantee.Mu
		if claim == 0 { // pure
			claim = a.guarantee.Epsilon
		}
		for _, attack := range r.attacks {
			if reach := attack.law.Reach(); reach > claim*(1+1e-9) || attack.Canary.Step == 1 && reach < 0.99*claim {
				t.Errorf("%v, step %d: a canary reaches %g of %g", lines, attack.Canary.Step, reach, claim)
			}
		}
	}
}

// TestAuditCatchesLongLeavesOfPlays: a contribution that is a tenth longer than it is checked to be, in the stream and
// in the quantiser.
func TestAuditCatchesLongLeavesOfPlays(t *testing.T) {
	fault := changed{after: func(dst []int64) {
		for i := range dst {
			dst[i] += dst[i] / 10
		}
	}}
	a := subjectOf(t, kindsOfPlays[3]...)
	honest := a.stream
	a.stream = func(c mechanisms.Config, p mechanisms.Calibration, key [32]byte) (*mechanisms.Stream, error) {
		return honest(fault.in(c), p, key)
	}
	refutesIn(t, 400, "long leaves in the stream", a, "leaves", ErrNoise)
	a = subjectOf(t, kindsOfPlays[3]...)
	a.mechanism = fault.in(a.mechanism)
	refutes(t, "long leaves in the quantiser", a, "distances", ErrCheck)
}
