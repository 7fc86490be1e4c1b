package plan

import (
	"math"
	"strings"
	"testing"

	"oriel/cmd/internal/plan/statistics"
)

// TestTargetsNeedSettings checks which settings a target needs, and the errors if they are missing.
func TestTargetsNeedSettings(t *testing.T) {
	f := func(w statistics.Target, want string, changes ...string) {
		t.Helper()
		in := countingInput(t, changes...)
		half, err := w.Error(in.Configured, in.Operator)
		if want == "" && (err != nil || !math.IsInf(half, 1)) ||
			want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%+v: %g, %v, want %q", w, half, err, want)
		}
	}
	f(statistics.Target{Statistic: "p50"}, "p50: not among the statistics")
	f(statistics.Target{Statistic: "mean"}, "say after how many", total...)
	f(statistics.Target{Statistic: "mean", After: 65}, "") // a memory of 64 steps never has 65 events
	f(statistics.Target{Statistic: "mean"}, "")            // 8 events of a cell are lost in noise
	in := everySetting[0].input()
	if _, err := (statistics.Target{Statistic: "count"}).Error(in.Configured, in.Operator); err == nil || !strings.Contains(err.Error(), "no numbers") {
		t.Errorf("a learner: %v", err)
	}
}

// TestTargetsHaveTheErrorOfThePlan checks that the error is the largest over all views of the plan, with the mean at an
// end of the range.
func TestTargetsHaveTheErrorOfThePlan(t *testing.T) {
	changes := []string{"ORIEL_MEMORIES=30,64", "ORIEL_BATCH=100"}
	r, in := numbersOf(t, changes...), countingInput(t, changes...)
	largest, compared := map[string]float64{}, 0
	for _, v := range r.Numbers.Views {
		if strings.HasPrefix(v.View, "memory") {
			largest["count"] = max(largest["count"], float64(v.Count.Half))
		}
	}
	for _, ratio := range r.Numbers.Ratios {
		if ratio.Events == 1000 {
			largest[ratio.Statistic] = max(largest[ratio.Statistic], float64(ratio.Ends))
		}
	}
	for name, want := range largest {
		got, err := statistics.Target{Statistic: name, After: 1000}.Error(in.Configured, in.Operator)
		if err != nil {
			t.Fatal(err)
		}
		if compared++; want > 0 {
			near(t, name, got, want, 0)
		}
	}
	if compared < 2 {
		t.Errorf("%d statistics", compared)
	}
}
