package plan

import (
	"testing"

	"oriel/cmd/internal/plan/clock"
	"oriel/mechanisms/dp"
	"oriel/mechanisms/mechtest"
	"oriel/mechanisms/protection"
	"oriel/mechanisms/steps"
)

// TestOneEventOfAPeriod checks the loss of one event of a user in a report by the clock. The user's next record counts
// in place of an absent one, so it is twice that of one contribution: 2µ/k. No figure may follow from a number of
// events in a step.
func TestOneEventOfAPeriod(t *testing.T) {
	c := mechtest.Config(2)
	c.Name, c.Batch = "once-gaussian", 0
	c.Terms = protection.Terms{Scope: protection.PerStep{}, Unit: protection.UserPeriod{PeriodSteps: 24, Events: 8}}
	r, err := New(Input{
		Configured: c, Operator: learner{},
		Clock: clock.Input{Clock: steps.Clock{Length: 3600}, Period: steps.Clock{Length: steps.Day}},
	})
	if err != nil {
		t.Fatal(err)
	}
	m := r.Mechanisms[0]
	event := float64(m.EventEpsilon)
	if want := dp.GaussianEpsilon(float64(m.Mu)/4, c.Budget.Delta); !(event >= want && event <= want*(1+1e-9)) {
		t.Errorf("one event of 8 loses %g, want %g", m.EventEpsilon, want)
	}
	if r.Ages[0].Seconds != 3600 || r.stepSeconds() != 3600 || len(r.Warnings) > 0 ||
		r.Clock == nil || r.Clock.Period.Events != 8 {
		t.Errorf("%+v", r)
	}
}
