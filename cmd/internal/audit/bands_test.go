package audit

import (
	"strings"
	"testing"

	"oriel/cmd/internal/audit/subject"
	"oriel/mechanisms/contribution"
	"oriel/mechanisms/lattice"
)

// kindsOfBands lists learners with a prediction band, of both kinds: an interval around a number, and a set of labels.
var kindsOfBands = [][]string{
	{"ORIEL_LOSS=squared", "ORIEL_BAND_RANGE=-60:180", "ORIEL_WINDOW=8", "ORIEL_BATCH=2"},
	{"ORIEL_LOSS=squared", "ORIEL_BAND_RANGE=-1:1", "ORIEL_WINDOW=lifetime", "ORIEL_MEMORY=8", "ORIEL_LABEL_MAX=1"},
	{"ORIEL_LOSS=absolute", "ORIEL_BAND_RANGE=-1:1", "ORIEL_WINDOW=8", "ORIEL_ADJACENCY=zero-out", "ORIEL_BAND_WEIGHT=1"},
	{"ORIEL_LOSS=logistic", "ORIEL_WINDOW=lifetime", "ORIEL_MEMORY=8", "ORIEL_CLIP=1"},
	{
		"ORIEL_LOSS=absolute", "ORIEL_BAND_RANGE=-1:1", "ORIEL_WINDOW=8", "ORIEL_BATCH=2", "ORIEL_USER_ID=key",
		"ORIEL_USER_SEPARATION=3", "ORIEL_BAND_WEIGHT=2",
	},
}

func withBand(t *testing.T, component int, more ...string) *subject.Subject {
	t.Helper()
	given := append([]string{"ORIEL_BAND=0.9", "ORIEL_FEATURES_MAX=1"}, more...)
	a, err := subject.New(auditSettings(t, given...), [32]byte{1}, component)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// TestAuditOfBandsReachesTheClaim checks that an audit refutes no learner with a prediction band. If the label is a
// number, canaries miss the interval on either side and reach the whole claim. With two classes, the first set contains
// both labels, so that canaries reach only the claim of the gradients.
func TestAuditOfBandsReachesTheClaim(t *testing.T) {
	for _, more := range kindsOfBands {
		share := 0.99
		if more[0] == "ORIEL_LOSS=logistic" {
			share = 0.97
		}
		reachesClaim(t, withBand(t, subject.AllComponents, more...), share, strings.Join(more, " "))
	}
}

// TestAuditOfOnlyABandsColumn audits the band's column alone: its canary must bound most of the loss that the column
// may have.
func TestAuditOfOnlyABandsColumn(t *testing.T) {
	a := withBand(t, 1, kindsOfBands[0]...)
	if reach := aimedAt(a, t, 1).Law.Reach(); reach < 0.99*claimed(a) || reach > claimed(a)*(1+1e-9) {
		t.Fatalf("a canary reaches %g of %g", reach, claimed(a))
	}
	boundsItsReach(a, t, 1)
}

// doubled is a quantiser that doubles the contributions of the band's column, which no check of the stream notices.
type doubled struct{ contribution.Quantiser }

func (q doubled) Quantise(g lattice.Grid, dst []int64, v []float64) {
	q.Quantiser.Quantise(g, dst, v)
	for i := range dst {
		dst[i] *= 2
	}
}

// TestAuditCatchesLongMarks plants a contribution to the band's column that is longer than claimed.
func TestAuditCatchesLongMarks(t *testing.T) {
	a := withBand(t, subject.AllComponents, kindsOfBands[0]...)
	a.Mechanism.Contribution.Components[1].Quantiser = doubled{a.Mechanism.Contribution.Components[1].Quantiser}
	refutes(t, "a mark of twice the length", a, "distances", ErrCheck)
}
