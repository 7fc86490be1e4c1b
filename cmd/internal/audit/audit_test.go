package audit

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"oriel/cmd/internal/audit/attack"
	"oriel/cmd/internal/audit/overpaid"
	"oriel/cmd/internal/audit/subject"
	"oriel/cmd/internal/audit/work"
	"oriel/mechanisms"
	"oriel/mechanisms/audit"
	"oriel/mechanisms/mechtest"
	"oriel/mechanisms/mechtest/tiertest"
	"oriel/mechanisms/noise"
	"oriel/mechanisms/protection"
	"oriel/mechanisms/windowtree"
)

// halfNoise plants a fault: it opens a stream with half the noise scale that the calibration claims.
func halfNoise(c mechanisms.Config, p mechanisms.Calibration, key [32]byte) (*mechanisms.Stream, error) {
	sampler, err := noise.NewGaussian(noise.Scale{Mant: p.Scale.Mant, Exp: p.Scale.Exp - 1})
	if err != nil {
		return nil, err
	}
	sum, err := windowtree.New(c.Scope.Span(), p.Grid, c.Dimension(), sampler, 0)
	if err != nil {
		return nil, err
	}
	return mechanisms.NewStream(c, p, key, sum)
}

// TestAuditFailsWhenAClaimIsRefuted checks that a refuted claim is an error, returned after the table is printed.
func TestAuditFailsWhenAClaimIsRefuted(t *testing.T) {
	a := cocoSubject(t, "ORIEL_MECHANISM=tree-gaussian")
	a.Stream = halfNoise
	half := a.Calibration
	half.Components = slices.Clone(half.Components)
	half.Components[0].Scale.Exp--
	result := audited(t, a, runsToRefute(a, t, half, alpha*alphaOfAttacks/2))
	var table, document bytes.Buffer
	if err := errors.Join(result.Print(&table), result.PrintJSON(&document)); err != nil {
		t.Fatal(err)
	}
	err := result.Verdict()
	if !errors.Is(err, audit.ErrClaim) || !errors.Is(err, ErrNoise) || !strings.Contains(err.Error(), "0.001") {
		t.Errorf("verdict %v", err)
	}
	if strings.Contains(table.String(), "Not refuted.") || !strings.Contains(table.String(), "REFUTED") || !strings.Contains(document.String(), `"verdict": "refuted"`) {
		t.Errorf("%s%s", table.String(), document.String())
	}
}

// settingsOfAllKinds has settings of every kind, for short audits. The audits of .ci/run and of TestAuditCommand are
// longer.
var settingsOfAllKinds = [][]string{
	{"ORIEL_MECHANISM=tree-gaussian", "ORIEL_BATCH=3", "ORIEL_ADJACENCY=zero-out"},
	{"ORIEL_MECHANISM=tree-gamma", "ORIEL_LOSS=portfolio", "ORIEL_SET=simplex", "ORIEL_RADIUS=1"},
	{"ORIEL_MECHANISM=tree-laplace", "ORIEL_LOSS=hinge", "ORIEL_SET=box"},
	{"ORIEL_UPDATE=ogd", "ORIEL_MECHANISM=once-gaussian", "ORIEL_WINDOW=lifetime", "ORIEL_LOSS=squared"},
	{
		"ORIEL_UPDATE=ogd", "ORIEL_MECHANISM=once-gamma", "ORIEL_WINDOW=lifetime", "ORIEL_LOSS=absolute",
		"ORIEL_DIMENSION=1",
	},
	{"ORIEL_WINDOW=horizon", "ORIEL_HORIZON=6", "ORIEL_AGE_WEIGHT=0", "ORIEL_UPDATE=llo", "ORIEL_SET=l1-ball"},
	{"ORIEL_WINDOW=horizon", "ORIEL_HORIZON=1", "ORIEL_AGE_WEIGHT=0", "ORIEL_MECHANISM=blt"},
	{"ORIEL_USER_ID=key", "ORIEL_USER_SEPARATION=3", "ORIEL_LOSS=linear"},
	usersForLife,
	{"ORIEL_BATCH=200", "ORIEL_EMIT_EVERY=5"},
	{"ORIEL_WINDOW=1", "ORIEL_MECHANISM=tree-gaussian", "ORIEL_DIMENSION=1"},
	{"ORIEL_OWN_CONVEXITY=true", "ORIEL_WINDOW=27"},
}

var usersForLife = []string{
	"ORIEL_WINDOW=lifetime", "ORIEL_MECHANISM=blt", "ORIEL_MEMORY=8", "ORIEL_USER_ID=key", "ORIEL_USER_SEPARATION=3",
	"ORIEL_USER_WINDOW=10",
}

// TestAuditCatchesAUserTakenForOneEvent plants noise that is calibrated for one event of a user instead of for all the
// user's events in the window. A canary of all these events, followed until its last event has left the sums, must
// refute the claim.
func TestAuditCatchesAUserTakenForOneEvent(t *testing.T) {
	a := cocoSubject(t, usersForLife...)
	if got := attack.Age(a, 1, 0); got != 18 {
		t.Errorf("followed for %d steps, want memory and window of users", got)
	}
	asOne := func(c mechanisms.Config) (mechanisms.Config, mechanisms.Calibration) {
		user := c.Unit.(protection.User)
		user.Steps = 1
		c.Unit = user
		return c, mechtest.Plan(t, c)
	}
	_, short := asOne(a.Mechanism)
	proved, runs := a.Stream, runsToRefute(a, t, short, alpha)
	a.Stream = func(c mechanisms.Config, _ mechanisms.Calibration, key [32]byte) (*mechanisms.Stream, error) {
		c, short := asOne(c)
		return proved(c, short, key)
	}
	if err := attacked(a, t, 1, runs).Report.Err(); !errors.Is(err, audit.ErrClaim) {
		t.Errorf("%d runs: %v", runs, err)
	}
}

// TestAuditOfAllKindsOfSettings runs whole audits. Nothing may be refuted, and no test may be left out.
func TestAuditOfAllKindsOfSettings(t *testing.T) {
	for _, more := range settingsOfAllKinds {
		a, checks := cocoSubject(t, more...), 6
		a.Repeated = fewRepeats()
		if a.HasQuantiser() {
			checks++ // the check of distances
		}
		if _, decays := a.Mechanism.Scope.Memory(); decays {
			checks++ // the check of resets
		}
		runs := tiertest.Runs(12, 200)
		r := audited(t, a, runs)
		var table, document bytes.Buffer
		if err := errors.Join(r.Verdict(), r.Print(&table), r.PrintJSON(&document)); err != nil {
			t.Errorf("%v: %v", more, err)
		}
		if len(r.checks) != checks || len(r.tests) < 9 || len(r.notAttacked) > 0 || r.runs != uint64(runs) ||
			!json.Valid(document.Bytes()) || !strings.HasSuffix(table.String(), "\nNot refuted.\n") {
			t.Errorf("%v: %s%s", more, table.String(), document.String())
		}
		t.Logf("%v\n%s", more, table.String())
	}
}

// TestAuditListsWhatItDoesNotTest checks that the table names noise that the audit cannot rebuild, because the noise
// scale is not large beside the lattice.
func TestAuditListsWhatItDoesNotTest(t *testing.T) {
	r := honest(t, cocoSubject(t, "ORIEL_MECHANISM=tree-laplace", "ORIEL_EPSILON=1e6"))
	var table bytes.Buffer
	if err := errors.Join(r.Verdict(), r.Print(&table)); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(table.String(), "Not tested with these settings: residual: noise of scale") {
		t.Errorf("%s", table.String())
	}
	long := cocoSubject(t, "ORIEL_MECHANISM=tree-gaussian", "ORIEL_WINDOW=524288", "ORIEL_DIMENSION=1")
	long.Repeated = 2
	r = audited(t, long, work.LeastRuns)
	if err := r.Verdict(); err != nil || len(r.notAttacked) != 1 ||
		!strings.Contains(r.notAttacked[0], "blocks after the first") {
		t.Errorf("%v, left %v", err, r.notAttacked)
	}
}

func TestPositions(t *testing.T) {
	for _, c := range []struct {
		more []string
		want []uint64
	}{
		{nil, []uint64{1, 13}},
		{[]string{"ORIEL_WINDOW=1024"}, []uint64{1, 1537}},
		{[]string{"ORIEL_WINDOW=65536"}, []uint64{1}},
		{[]string{"ORIEL_MECHANISM=tree-gamma"}, []uint64{1}},
		{[]string{"ORIEL_WINDOW=horizon", "ORIEL_HORIZON=6", "ORIEL_AGE_WEIGHT=0"}, []uint64{1, 4}},
		{[]string{"ORIEL_UPDATE=ogd", "ORIEL_MECHANISM=once-gaussian", "ORIEL_WINDOW=lifetime"}, []uint64{1, 9}},
	} {
		a := cocoSubject(t, c.more...)
		if got := attack.Positions(a, 0, 0); !slices.Equal(got, c.want) {
			t.Errorf("%v: %v, want %v", c.more, got, c.want)
		}
		if got := attack.Positions(a, 7, 0); !slices.Equal(got, []uint64{7}) {
			t.Errorf("%v: %v, want the one asked for", c.more, got)
		}
	}
}

func TestLowerNeverRoundsUp(t *testing.T) {
	for x, want := range map[float64]string{
		0: "0", 1: "1", 0.123456: "0.1234", 0.99999: "0.9999", 12345: "1.234e+04",
		2.9999999: "2.999",
	} {
		if got := lower(x); got != want {
			t.Errorf("lower(%g) = %s, want %s", x, got, want)
		}
	}
}

// TestAuditOfCentredContributionsReachesTheClaim covers contributions around a public centre, whose diameter is smaller
// than twice the clip. Canaries must reach the whole claim that follows from the diameter: at the first step, later,
// and for all events of a user. One attack must be long enough to bound most of the claim.
func TestAuditOfCentredContributionsReachesTheClaim(t *testing.T) {
	for _, more := range [][]string{
		{"ORIEL_CLIP=1"},
		{"ORIEL_CLIP=1", "ORIEL_ADJACENCY=zero-out"},
		{"ORIEL_CLIP=1", "ORIEL_USER_ID=key", "ORIEL_USER_SEPARATION=3"},
		{"ORIEL_CLIP=1", "ORIEL_LOSS=quantile", "ORIEL_DIMENSION=1"},
		{"ORIEL_CLIP=9", "ORIEL_LOSS=squared", "ORIEL_LABEL_MAX=1", "ORIEL_RADIUS=1"},
	} {
		a := cocoSubject(t, more...)
		r := honest(t, a)
		if err := r.Verdict(); err != nil {
			t.Errorf("%v: %v", more, err)
		}
		for _, attack := range r.attacks {
			claim := a.Guarantee.Mu
			if reach := attack.Law.Reach(); reach > claim*(1+1e-9) || reach < 0.9*claim {
				t.Errorf("%v, step %d: a canary reaches %g of %g", more, attack.Canary.Step, reach, claim)
			}
		}
		if clipped := 2 * a.Operator.Describe(a.Mechanism).Clip; a.Calibration.Sensitivity(a.Mechanism) > 0.9*clipped {
			t.Errorf("%v: nothing gained", more)
		}
	}
	a := cocoSubject(t, "ORIEL_CLIP=1")
	boundsItsReach(a, t, 13)
}

// TestOperatorsPayForWhatEventsMove checks that no component in the audits' settings has noise that covers much more
// than an event can move.
func TestOperatorsPayForWhatEventsMove(t *testing.T) {
	f := func(a *subject.Subject, lines []string) {
		t.Helper()
		if moves := overpaid.Components(a.WholeMechanism, a.DeployedOperator); len(moves) > 0 {
			t.Errorf("%v: %+v", lines, moves)
		}
	}
	for _, lines := range settingsOfAllKinds {
		f(cocoSubject(t, lines...), lines)
	}
	for _, lines := range kindsOfPlays {
		f(subjectOf(t, lines...), lines)
	}
	for _, lines := range asConfigured {
		f(subjectOf(t, lines...), lines)
	}
}
