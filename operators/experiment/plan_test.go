package experiment

import (
	"math"
	"testing"

	"oriel/mechanisms/mechtest/tiertest"
)

// Plans are those of their formula, and of experiments that are simulated: 0.78 to 0.92 of them have stopped by the
// events of a power of 0.8, which leaves out what earlier looks find.
func TestPlans(t *testing.T) {
	s := halves(0.1, 200)
	plan := s.Plan(1, 0.015, 0.8, 1000)
	if want := math.Ceil(math.Pow(1.959963985+0.841621234, 2) * 0.36 / (0.015 * 0.015)); math.Abs(plan.OneLook-want) > 1 {
		t.Errorf("one look: %g, want %g", plan.OneLook, want)
	}
	if !(plan.OneLook < plan.NoPrivacy && plan.NoPrivacy < plan.AlwaysLook && plan.AlwaysLook < 2.5*plan.OneLook) {
		t.Errorf("%+v", plan)
	}
	if none := s.Plan(1, 0.015, 0.8, 10); none.AlwaysLook != 0 {
		t.Errorf("ten steps: %+v", none)
	}
	runs, stopped := tiertest.Runs(100, 2000), 0
	arms := make([]Arm, 2)
	for seed := range runs {
		x, src := New(s), newSource(&s, uint64(seed), constant(0.0925, 0.1075))
		for found := false; !found && x.EventsSeen() < plan.AlwaysLook; {
			src.step(arms)
			x.Take(arms)
			if e := x.Effect(1); e.Low > 0 {
				stopped++
				found = true
			}
		}
	}
	t.Logf("%+v, %d of %d stopped", plan, stopped, runs)
	share, away := float64(stopped)/float64(runs), 6*math.Sqrt(0.16/float64(runs))
	if share < 0.78-away || share > 0.92+away {
		t.Errorf("%d of %d stopped by %g", stopped, runs, plan.AlwaysLook)
	}
}
