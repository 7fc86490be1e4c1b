package aggregate

import (
	"math"
	"testing"

	"oriel/mechanisms"
	"oriel/mechanisms/mechtest"
	"oriel/operators"
	"oriel/operators/aggregate/trial"
)

// TestPowerIsOfTheHardestTreatment checks that a plan is for all treatments and for all experiments of the stream: the
// largest number of events that any of them needs.
func TestPowerIsOfTheHardestTreatment(t *testing.T) {
	c, m := config(t, ending(300, 100), experimental("CELLS=variant=A|B|C", "PROPENSITIES=0.3|0.6|0.1",
		"EXPERIMENT_STEP=1,31")...)
	opened, err := mechanisms.NewMechanism(m, mechtest.Plan(t, m))
	if err != nil {
		t.Fatal(err)
	}
	law, err := opened.NoiseLaw(0)
	if err != nil {
		t.Fatal(err)
	}
	power := func(c operator) *operators.Power {
		p, err := c.Power(law, m.Batch, operators.Aim{Effect: 0.1, Probability: 0.8})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	steps := c.test.Longest(trial.MaxTargetSteps, c.terms.Scope.Figures().Horizon)
	s, want, hardest := c.test.Settings(law, m.Batch), operators.Power{}, map[[2]int]float64{}
	for i, start := range c.test.Starts {
		s.Start = start
		for arm := 1; arm < 3; arm++ {
			p := s.Plan(arm, 0.1, 0, 0.8, steps)
			want.OneLook, want.Events = math.Max(want.OneLook, p.OneLook), math.Max(want.Events, p.AlwaysLook)
			hardest[[2]int{i, arm}] = p.AlwaysLook
		}
	}
	if got := power(c); got.OneLook != want.OneLook || got.Events != want.Events {
		t.Errorf("%+v, want %g and %g events of %v", got, want.OneLook, want.Events, hardest)
	}
	if hardest[[2]int{0, 2}] <= hardest[[2]int{0, 1}] || hardest[[2]int{1, 2}] == hardest[[2]int{0, 2}] {
		t.Errorf("the hardest does not stand out: %v", hardest)
	}
}
