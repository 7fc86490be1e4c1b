package audit

import (
	"strings"
	"testing"

	"oriel/mechanisms"
)

// kindsOfPlays has bandits of all kinds.
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

// TestAuditOfPlaysReachesTheClaim checks that the losses of canaries reach the whole claim at the first step, with
// every noise distribution, and that no canary exceeds the claim.
func TestAuditOfPlaysReachesTheClaim(t *testing.T) {
	for _, lines := range kindsOfPlays {
		reachesClaim(t, subjectOf(t, lines...), 0.99, strings.Join(lines, " "))
	}
}

// TestAuditCatchesLongContributionsOfPlays plants a contribution that is a tenth longer than the quantiser claims, in
// the stream and in the quantiser.
func TestAuditCatchesLongContributionsOfPlays(t *testing.T) {
	fault := changed{after: func(dst []int64) {
		for i := range dst {
			dst[i] += dst[i] / 10
		}
	}}
	a := subjectOf(t, kindsOfPlays[3]...)
	proved := a.Stream
	a.Stream = func(c mechanisms.Config, p mechanisms.Calibration, key [32]byte) (*mechanisms.Stream, error) {
		return proved(fault.in(c), p, key)
	}
	refutesIn(t, 400, "long contributions in the stream", a, "contributions", ErrNoise)
	a = subjectOf(t, kindsOfPlays[3]...)
	a.Mechanism = fault.in(a.Mechanism)
	refutes(t, "long contributions in the quantiser", a, "distances", ErrCheck)
}
