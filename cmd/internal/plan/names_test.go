package plan

import (
	"strings"
	"testing"

	"oriel/cmd/internal/plan/clock"
	"oriel/mechanisms/contribution"
	"oriel/mechanisms/dp"
	"oriel/mechanisms/mechtest"
	"oriel/mechanisms/protection"
	"oriel/mechanisms/steps"
	"oriel/operators/description"
)

// TestPlanOfNames checks that a plan of names has their figures in place of the error of a sum.
func TestPlanOfNames(t *testing.T) {
	c := mechtest.Config(1)
	c.Name, c.Batch, c.Contribution = "once-laplace", 0, contribution.OfNames(256)
	c.Terms = protection.Terms{Scope: protection.PerStep{}, Unit: protection.Event{Exchange: dp.AddRemove}}
	hourly := clock.Input{Clock: steps.Clock{Length: 3600}}
	counts := learner{description.Figures{Mechanisms: []string{"once-laplace", "once-gaussian"}}}
	r, err := New(Input{Configured: c, Operator: counts, Rate: 3, Clock: hourly})
	if err != nil {
		t.Fatal(err)
	}
	if m := r.Mechanisms[0]; r.Names == nil || r.Names.Threshold != 15 || !r.Names.Lonely.Known() || m.NoiseScale != 1 ||
		m.RMSCoordinate != r.Names.Deviation || m.Delta <= 0 || m.Delta > 1e-6 {
		t.Errorf("%+v, %+v", r.Names, m)
	}
	var text strings.Builder
	if err := r.Print(&text); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"present or absent moves the count of one name by 1", "from 15 on", "once-gaussian"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %q in\n%s", want, text.String())
		}
	}
	for _, not := range []string{"lattice units", "loss units"} {
		if strings.Contains(text.String(), not) {
			t.Errorf("%q in\n%s", not, text.String())
		}
	}
}
