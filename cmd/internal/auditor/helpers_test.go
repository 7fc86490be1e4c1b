package auditor

import (
	"strings"
	"testing"
	"time"

	"oriel/cmd/internal/settings"
	"oriel/mechanisms/audit"
	"oriel/mechanisms/mechtest/tiertest"
)

// alpha of the audits here. Seeds are fixed: what is green stays green.
const alpha = 0.001

// auditSettings is a small deployment at ε = 20: µ is 3.2, and some thousand runs bound it to a tenth.
func auditSettings(t testing.TB, more ...string) settings.Settings {
	t.Helper()
	given := map[string]string{}
	for _, line := range append([]string{
		"ORIEL_OPERATOR=coco", "ORIEL_UPDATE=projection", "ORIEL_LOSS=logistic", "ORIEL_SET=l2-ball", "ORIEL_RADIUS=5",
		"ORIEL_DIMENSION=4",
		"ORIEL_STRONG_CONVEXITY=0.01", "ORIEL_MECHANISM=blt", "ORIEL_WINDOW=8", "ORIEL_EPSILON=20", "ORIEL_DELTA=1e-6",
		"ORIEL_CLIP=1.5",
		"ORIEL_QUANTILE=0.9",
	}, more...) {
		name, value, _ := strings.Cut(line, "=")
		given[name] = value
	}
	var lines []string
	for name, value := range given {
		lines = append(lines, name+"="+value)
	}
	s, err := settings.Load(lines, settings.Events, settings.Operator)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// subjectOf is an audit of all parts of an operator at ε = 20, δ = 1e-6, or what lines say.
func subjectOf(t testing.TB, lines ...string) *Subject {
	t.Helper()
	s, err := settings.Load(append([]string{"ORIEL_EPSILON=20", "ORIEL_DELTA=1e-6"}, lines...), settings.Events,
		settings.Operator)
	if err != nil {
		t.Fatal(err)
	}
	a, err := NewSubject(s, [32]byte{1}, AllComponents)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func subject(t testing.TB, more ...string) *Subject {
	t.Helper()
	a, err := NewSubject(auditSettings(t, more...), [32]byte{1}, AllComponents)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// options are so many runs, without a progress bar.
func options(runs int) Options {
	return Options{
		Runs: runs, Time: time.Minute, Alpha: alpha,
		Progress: func(string, int) (func(int), func()) { return func(int) {}, func() {} },
	}
}

func audited(t *testing.T, a *Subject, runs int) *Result {
	t.Helper()
	r, err := a.Audit(t.Context(), options(runs))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// reachesClaim audits a subject: it is not refuted, canaries of the first step reach a share of the claim, and none
// passes it.
func reachesClaim(t *testing.T, a *Subject, share float64, name string) {
	t.Helper()
	r := audited(t, a, tiertest.Runs(100, 300))
	if err := r.Verdict(); err != nil {
		t.Errorf("%s: %v", name, err)
	}
	for _, attack := range r.attacks {
		claim := a.guarantee.Mu
		if reach := attack.law.Reach(); reach > claim*(1+1e-9) || attack.Canary.Step == 1 && reach < share*claim {
			t.Errorf("%s, step %d: a canary reaches %g of %g", name, attack.Canary.Step, reach, claim)
		}
	}
}

// boundsNineTenths wants one attack at a step to bound nine tenths of the claim, in the short form eight, and not to
// pass it: a quarter of the runs doubles what a bound leaves to chance.
func (a *Subject) boundsNineTenths(t *testing.T, step uint64) {
	t.Helper()
	o, least := options(tiertest.Runs(2000, 8000)), tiertest.Runs(0.8, 0.9)
	attack, err := a.newAttack(step, a.dense(a.random("direction", 0)), o)
	if err != nil {
		t.Fatal(err)
	}
	if err := attack.run(t.Context(), a, o, 1, 0, func(audit.Run) {}); err != nil {
		t.Fatal(err)
	}
	first := attack.Report.Bounds[0]
	t.Logf("%+v", first)
	if err := attack.Report.Err(); err != nil || first.Value < least*first.Claim || first.Value > first.Claim {
		t.Errorf("%v: bound %+v", err, first)
	}
}
