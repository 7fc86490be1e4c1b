package names_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"oriel/cmd/internal/plan/names"
	"oriel/mechanisms"
	"oriel/mechanisms/contribution"
	"oriel/mechanisms/dp"
	"oriel/mechanisms/mechtest"
	"oriel/mechanisms/protection"
)

func report(t *testing.T, delta, rate float64, m uint64) *names.Report {
	t.Helper()
	c := mechanisms.Config{
		Name: "once-laplace", Contribution: contribution.OfNames(256), Budget: dp.Budget{Epsilon: 1, Delta: delta},
		Terms: protection.Terms{Scope: protection.PerStep{}, Unit: protection.UserPeriod{PeriodSteps: 24, Values: m}},
	}
	s, err := mechanisms.Open(c, mechtest.Plan(t, c), [32]byte{})
	if err != nil {
		t.Fatal(err)
	}
	return names.New(c, s, rate)
}

// TestFiguresOfAPlan checks the figures against the law: r^M/Z, a year of events, and the number of steps from which
// normal noise has the lower threshold, and from which it has the smaller deviation.
func TestFiguresOfAPlan(t *testing.T) {
	r := report(t, 1e-6, 10, 1)
	leak := math.Exp(-14) * (1 - math.Exp(-1)) / (1 + math.Exp(-1))
	if r.Threshold != 15 || r.Published != 19 || math.Abs(r.Leak-leak) > 1e-5*leak || math.Abs(r.Deviation-1.3570) > 1e-4 {
		t.Errorf("%+v", r)
	}
	lonely := 10 * 365.25 * 86400
	if float64(r.Lonely) != lonely || math.Abs(float64(r.Passing)-lonely*r.Leak) > 1e-6 ||
		math.Abs(float64(r.Advised)-3e-12) > 1e-25 {
		t.Errorf("%+v", r)
	}
	var threshold, deviation uint64
	for _, l := range r.Laws {
		if threshold == 0 && l.Gaussian.Threshold < l.Laplace.Threshold {
			threshold = l.Steps
		}
		if deviation == 0 && l.Gaussian.Deviation < l.Laplace.Deviation {
			deviation = l.Steps
		}
	}
	if threshold != 5 || deviation != 10 { // the thresholds are equal at 3
		t.Errorf("normal noise has the lower threshold from %d steps on, and the smaller deviation from %d", threshold, deviation)
	}
	three := report(t, 1e-6, 0, 3)
	if three.Laws[0].Laplace != r.Laws[2].Laplace || three.Threshold != 41 || three.Lonely.Known() {
		t.Errorf("three names in a step: %+v", three)
	}
	if safe := report(t, 1e-12, 1e-3, 1); strings.Contains(safe.Text(), "Advised") {
		t.Errorf("advice without need: %s", safe.Text())
	}
}

// TestTextOfNames checks that people and programs read the same figures, and that a law without a threshold is empty.
func TestTextOfNames(t *testing.T) {
	r := report(t, 1e-6, 10, 1)
	text := r.Title() + "\n" + r.Text() + r.RowsTitle() + "\n" + r.Rows().String()
	for _, want := range []string{
		"published from 15 on, with noise of deviation 1.36", "count 19 or more is published in 99.5 %", "probability 3.8",
		" names of single persons, of which 121 are published", "ORIEL_DELTA=3e-12 or less", "once-gaussian", "168",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	object, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"threshold":15`, `"published_count":19`, `"advised_delta":`, `"once-laplace":{"threshold":15`} {
		if !strings.Contains(string(object), want) {
			t.Errorf("no %s in %s", want, object)
		}
	}
	if text := report(t, 1e-6, 0, 1).Text(); !strings.Contains(text, "10⁻³/L") {
		t.Error(text)
	}
}
