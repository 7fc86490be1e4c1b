package audit

import (
	"math"
	"slices"
	"strings"
	"testing"

	"oriel/cmd/internal/audit/subject"
	"oriel/mechanisms"
	"oriel/mechanisms/contribution"
	"oriel/mechanisms/lattice"
)

// solving returns the subject of a least squares operator with four features, at ε = 20.
func solving(t *testing.T, more ...string) *subject.Subject {
	t.Helper()
	return subjectOf(t, append([]string{
		"ORIEL_OPERATOR=ridge", "ORIEL_DIMENSION=4", "ORIEL_LABEL_RANGE=-60:180",
	}, more...)...)
}

// kindsOfMoments has least squares of all kinds, with every noise distribution.
var kindsOfMoments = [][]string{
	{"ORIEL_UPDATE=moments", "ORIEL_MECHANISM=blt", "ORIEL_WINDOW=8"},
	{"ORIEL_UPDATE=moments", "ORIEL_MECHANISM=blt", "ORIEL_WINDOW=lifetime", "ORIEL_MEMORY=8", "ORIEL_LABEL_SHARE=1"},
	{
		"ORIEL_UPDATE=innovation", "ORIEL_RESIDUAL_MAX=20", "ORIEL_MECHANISM=tree-gaussian", "ORIEL_WINDOW=8",
		"ORIEL_ADJACENCY=zero-out",
	},
	{
		"ORIEL_UPDATE=innovation", "ORIEL_RESIDUAL_MAX=400", "ORIEL_MECHANISM=blt", "ORIEL_WINDOW=8", "ORIEL_FEATURES_MAX=3",
		"ORIEL_USER_ID=key", "ORIEL_USER_SEPARATION=3", "ORIEL_WEIGHTS_MAX=40", "ORIEL_BATCH=2",
	},
}

// TestAuditOfSecondMomentsReachesTheClaim checks that canaries reach the whole claim, at the first step and later, with
// every noise distribution and unit of privacy. One attack must bound most of the claim, and no attack may exceed it.
func TestAuditOfSecondMomentsReachesTheClaim(t *testing.T) {
	for _, more := range kindsOfMoments {
		a := solving(t, more...)
		reachesClaim(t, a, 0.99, strings.Join(more, " "))
	}
	a := solving(t, kindsOfMoments[0]...)
	boundsItsReach(a, t, 1)
}

// changed plants a fault: it is a quantiser whose result is changed afterwards.
type changed struct {
	contribution.Quantiser
	after func(dst []int64)
}

func (q changed) Quantise(g lattice.Grid, dst []int64, v []float64) {
	q.Quantiser.Quantise(g, dst, v)
	q.after(dst)
}

// in returns the configuration with the fault in its quantiser. A configuration without a quantiser stays the same: the
// audit uses it to rebuild noise.
func (q changed) in(c mechanisms.Config) mechanisms.Config {
	if q.Quantiser = c.Contribution.Components[0].Quantiser; q.Quantiser == nil {
		return c
	}
	c.Contribution.Components = slices.Clone(c.Contribution.Components)
	c.Contribution.Components[0].Quantiser = q
	return c
}

// TestAuditCatchesFaultsOfSecondMoments plants faults in second moments. If only the stream has the fault, the tests of
// the rebuilt noise must find it. If the audited quantiser has the fault, the check must find contributions that are
// farther apart than claimed.
func TestAuditCatchesFaultsOfSecondMoments(t *testing.T) {
	const size = 5 // numbers of a row: four features and a label
	for what, after := range map[string]func(dst []int64){
		"noise of scale σ on the diagonal, where √2·σ is claimed": func(dst []int64) {
			for i, at := 0, 0; i < size; i++ {
				dst[at] = int64(math.Round(float64(dst[at]) * math.Sqrt2))
				at += size - i
			}
		},
		"a row that is longer than it is checked to be": func(dst []int64) {
			for i := range dst {
				dst[i] += dst[i] / 10
			}
		},
	} {
		fault := changed{after: after}
		a := solving(t, kindsOfMoments[0]...)
		proved := a.Stream
		a.Stream = func(c mechanisms.Config, p mechanisms.Calibration, key [32]byte) (*mechanisms.Stream, error) {
			return proved(fault.in(c), p, key)
		}
		refutes(t, what+", in the stream", a, "contributions", ErrNoise)

		a = solving(t, kindsOfMoments[0]...)
		a.Mechanism = fault.in(a.Mechanism)
		refutes(t, what+", in the quantiser", a, "distances", ErrCheck)
	}
}
