package audit

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"oriel/mechanisms"
	"oriel/mechanisms/audit"
	"oriel/mechanisms/mechtest"
	"oriel/mechanisms/mechtest/tiertest"
)

// TestAuditOfSets covers events that consist of two places, and events of rewards that differ nearly everywhere.
// Canaries must reach all or nearly all of the claim, and no canary may exceed it.
func TestAuditOfSets(t *testing.T) {
	copied := tiertest.Runs("ORIEL_ELEMENTS=12", "ORIEL_ELEMENTS=24")
	places := filepath.Join(t.TempDir(), "places")
	if err := os.WriteFile(places, []byte("a:1:2\nb:30:4\nc:50:60\nd:-20:100\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, more := range [][]string{
		{"ORIEL_RULE=histogram", "ORIEL_PLACES=" + places, "ORIEL_MECHANISM=blt", "ORIEL_WINDOW=8"},
		{"ORIEL_RULE=histogram", "ORIEL_PLACES=" + places, "ORIEL_MECHANISM=blt", "ORIEL_WINDOW=lifetime", "ORIEL_MEMORY=8"},
		{"ORIEL_RULE=argmax", "ORIEL_ELEMENTS=5", "ORIEL_MECHANISM=tree-gaussian", "ORIEL_WINDOW=8", "ORIEL_BATCH=2"},
		{"ORIEL_RULE=argmax", "ORIEL_ELEMENTS=6", "ORIEL_MECHANISM=blt", "ORIEL_WINDOW=8", "ORIEL_ADJACENCY=zero-out"},
		{"ORIEL_RULE=argmax", "ORIEL_ELEMENTS=6", "ORIEL_MECHANISM=blt", "ORIEL_WINDOW=8", "ORIEL_VALUES_NORM=1"},
		{
			"ORIEL_RULE=argmax", "ORIEL_PLACES=" + places, "ORIEL_MECHANISM=blt", "ORIEL_WINDOW=8", "ORIEL_CATCHMENT=10",
			"ORIEL_ADJACENCY=zero-out",
		},
		{"ORIEL_RULE=leaders", "ORIEL_ELEMENTS=6", "ORIEL_MECHANISM=blt", "ORIEL_WINDOW=8"},
		{"ORIEL_RULE=shares", copied, "ORIEL_MECHANISM=blt", "ORIEL_WINDOW=8", "ORIEL_COPIES=2"},
	} {
		a := subjectOf(t, append([]string{"ORIEL_OPERATOR=submodular", "ORIEL_PICK=2", "ORIEL_EMIT_EVERY=1"}, more...)...)
		reachesClaim(t, a, 0.94, strings.Join(more, " "))
	}
}

// TestAuditFollowsContributions attacks in the middle of a stream, where a canary's contributions depend on the set or
// point published before. An attack that follows the contributions must reach most of the loss that a canary can show,
// and not more than the claim. An attack that assumes the contributions of the stream's start reaches half of that
// loss, or nothing. A stream with the noise of twice the ε must be refuted.
func TestAuditFollowsContributions(t *testing.T) {
	for _, row := range []struct {
		// bound of an attack that follows contributions, relative to the reach of a canary at the stream's start
		shown float64
		more  []string
	}{
		{0.9, []string{"ORIEL_RULE=argmax", "ORIEL_ELEMENTS=6", "ORIEL_MECHANISM=blt", "ORIEL_WINDOW=8"}},
		{0.9, []string{
			"ORIEL_RULE=leaders", "ORIEL_ELEMENTS=6", "ORIEL_MECHANISM=blt", "ORIEL_WINDOW=lifetime", "ORIEL_MEMORY=8",
		}},
		{0.75, []string{"ORIEL_RULE=shares", "ORIEL_ELEMENTS=12", "ORIEL_COPIES=2", "ORIEL_MECHANISM=blt", "ORIEL_WINDOW=8"}},
	} {
		a := subjectOf(t, append([]string{"ORIEL_OPERATOR=submodular", "ORIEL_PICK=2"}, row.more...)...)
		// At a smaller loss, the number of right guesses varies less. So a bound on part of the reach falls short by no
		// more than a bound on the whole reach.
		// In the short form the bound must exceed 0.6 or 0.55 of the reach. An attack that does not follow falls short.
		share := tiertest.Runs(min(0.8, 1.6-row.shown), 0.9)
		law := aimedAt(a, t, 13).Law
		attack, reach := attacked(a, t, 13, runsFor(t, law, share, alpha)), law.Reach()
		first := attack.Report.Bounds[0]
		t.Logf("%v: µ is at least %.3f, of %.3f at the start, in %d runs", row.more, first.Value, reach, first.Guesses)
		if err := attack.Report.Err(); err != nil || first.Value < (row.shown-(1-share))*reach || first.Value > first.Claim {
			t.Errorf("%v: %v, bound %+v, want %g of %g", row.more, err, first, row.shown, reach)
		}
		if row.shown < 0.8 {
			continue
		}
		loud := a.Mechanism
		loud.Budget.Epsilon *= 2
		calibration := mechtest.Plan(t, loud)
		canShow := lawUnder(a, t, calibration)
		runs := runsFor(t, canShow, 1-(row.shown-a.Guarantee.Mu/canShow.Reach()), alpha)
		a.Stream = func(_ mechanisms.Config, _ mechanisms.Calibration, key [32]byte) (*mechanisms.Stream, error) {
			return mechanisms.Open(loud, calibration, key)
		}
		if err := attacked(a, t, 13, runs).Report.Err(); !errors.Is(err, audit.ErrClaim) {
			t.Errorf("%v: noise of twice the ε is not refuted in the midst of a stream in %d runs: %v", row.more, runs, err)
		}
	}
}
