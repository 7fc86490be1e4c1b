package audit

import (
	"strings"
	"testing"
	"time"

	"oriel/cmd/internal/audit/attack"
	"oriel/cmd/internal/audit/subject"
	"oriel/cmd/internal/settings"
	"oriel/mechanisms"
	"oriel/mechanisms/audit"
	"oriel/mechanisms/mechtest/tiertest"
)

// alpha is the probability of a false alarm of each audit in these tests. Seeds are fixed, so a test that passes once
// always passes.
const alpha = 0.001

// auditSettings returns a small deployment at ε = 20. Its µ is 3.2; some thousand runs bound it to within a tenth.
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

// subjectOf returns an audit of all components of an operator at ε = 20, δ = 1e-6, unless lines set other values.
func subjectOf(t testing.TB, lines ...string) *subject.Subject {
	t.Helper()
	s, err := settings.Load(append([]string{"ORIEL_EPSILON=20", "ORIEL_DELTA=1e-6"}, lines...), settings.Events,
		settings.Operator)
	if err != nil {
		t.Fatal(err)
	}
	a, err := subject.New(s, [32]byte{1}, subject.AllComponents)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func cocoSubject(t testing.TB, more ...string) *subject.Subject {
	t.Helper()
	a, err := subject.New(auditSettings(t, more...), [32]byte{1}, subject.AllComponents)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// options returns the options of an audit with this many runs, without a progress bar.
func options(runs int) Options {
	return Options{
		Runs: runs, Time: time.Minute, Alpha: alpha,
		Progress: func(string, int) (func(int), func()) { return func(int) {}, func() {} },
	}
}

func audited(t *testing.T, a *subject.Subject, runs int) *Result {
	t.Helper()
	r, err := Run(t.Context(), a, options(runs))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// claimed returns the loss that Law.Reach is compared with: µ, or ε if the noise is pure.
func claimed(a *subject.Subject) float64 {
	if a.Guarantee.Mu == 0 {
		return a.Guarantee.Epsilon
	}
	return a.Guarantee.Mu
}

// honest audits a subject and checks that nothing is refuted. In the short form it plays few runs, because exact checks
// are tested with planted faults at full length, and noise is tested with more runs elsewhere.
func honest(t *testing.T, a *subject.Subject) *Result {
	t.Helper()
	a.Repeated = fewRepeats()
	return audited(t, a, honestRuns())
}

func honestRuns() int { return tiertest.Runs(12, 300) }

func fewRepeats() uint64 { return tiertest.Runs[uint64](4, 32) }

// reachesClaim audits a subject and checks that nothing is refuted, that canaries of the first step reach a share of
// the claim, and that none exceeds it.
func reachesClaim(t *testing.T, a *subject.Subject, share float64, name string) {
	t.Helper()
	r := honest(t, a)
	if err := r.Verdict(); err != nil {
		t.Errorf("%s: %v", name, err)
	}
	claim := claimed(a)
	for _, attack := range r.attacks {
		if reach := attack.Law.Reach(); reach > claim*(1+1e-9) || attack.Canary.Step == 1 && reach < share*claim {
			t.Errorf("%s, step %d: a canary reaches %g of %g", name, attack.Canary.Step, reach, claim)
		}
	}
}

// aimedAt returns an attack on a canary at this step, before its first run.
func aimedAt(a *subject.Subject, t testing.TB, step uint64) *attack.Attack {
	t.Helper()
	attack, err := attack.New(a, step, a.Dense(a.Random("direction", 0)), 0)
	if err != nil {
		t.Fatal(err)
	}
	return attack
}

// attacked runs the attack on a canary at this step, with this many runs and all of alpha.
func attacked(a *subject.Subject, t testing.TB, step uint64, runs int) *attack.Attack {
	t.Helper()
	attack := aimedAt(a, t, step)
	if err := attack.Run(t.Context(), a, options(runs).work("", 0), alpha, func(audit.Run) {}); err != nil {
		t.Fatal(err)
	}
	return attack
}

// enough multiplies audit.Law.RunsFor so that the runs bound a share of a loss with probability 0.999. The number of
// right guesses is binomial. So a bound at confidence 1 − α is about (z_α + z)·s below the loss. Here s falls with the
// square root of the number of runs, and z is the number of standard deviations by which guesses may be unlucky.
// RunsFor takes z = 1; 0.999 needs z = 3.1. For the three bounds of one attack z_α is 3.4, which gives the factor ((3.4
// + 3.1)/(3.4 + 1))² < 2.2. A larger z_α gives a smaller factor.
const enough = 2.2

// runsFor returns the number of runs that bound a share of the largest loss that a canary can show, with probability
// 0.999. The loss follows from law.
func runsFor(t testing.TB, law *audit.Law, share, alpha float64) int {
	t.Helper()
	runs, ok := law.RunsFor(share, 1e-6, alpha)
	if !ok {
		t.Fatalf("no number of runs bounds %g of %g", share, law.Reach())
	}
	return int(enough * float64(runs))
}

// runsToRefute returns the number of runs with which an attack at step 1 refutes the claim with probability 0.999, if
// the machine's noise is that of the calibration loud.
func runsToRefute(a *subject.Subject, t testing.TB, loud mechanisms.Calibration, alpha float64) int {
	t.Helper()
	law := lawUnder(a, t, loud)
	return runsFor(t, law, a.Guarantee.Mu/law.Reach(), alpha)
}

// lawUnder returns the distribution of the canary of step 1 under the noise of another calibration.
func lawUnder(a *subject.Subject, t testing.TB, other mechanisms.Calibration) *audit.Law {
	t.Helper()
	law, err := audit.NewLaw(a.Mechanism, other, aimedAt(a, t, 1).Canary)
	if err != nil {
		t.Fatal(err)
	}
	return law
}

// boundsItsReach checks that one attack at a step bounds a share of the loss that its canary can show, and that the
// bound does not exceed the claim. In the long form, the share is nine tenths.
func boundsItsReach(a *subject.Subject, t *testing.T, step uint64) {
	t.Helper()
	share := tiertest.Runs(0.7, 0.9)
	attack := aimedAt(a, t, step)
	attack = attacked(a, t, step, runsFor(t, attack.Law, share, alpha))
	first := attack.Report.Bounds[0]
	t.Logf("%+v", first)
	if err := attack.Report.Err(); err != nil || first.Value < share*attack.Law.Reach() || first.Value > first.Claim {
		t.Errorf("%v: bound %+v", err, first)
	}
}
