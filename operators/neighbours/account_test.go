package neighbours

import (
	"testing"

	"oriel/mechanisms"
)

// TestAccountOfDraws checks that an account accepts the loss that it allows, for one draw and for all draws after a
// step, and no more.
func TestAccountOfDraws(t *testing.T) {
	one, ten := mechanisms.Ratio{Num: 1, Den: 1}, mechanisms.Ratio{Num: 10, Den: 1}
	law := mechanisms.Exponential{Epsilon: one, Sensitivity: ten}
	of := func(step uint64, a, b int64) mechanisms.Draw {
		return mechanisms.Draw{Step: step, Law: law, Scores: []int64{a, b, 0}}
	}
	other := mechanisms.Draw{Law: mechanisms.ByLogs(3), Scores: []int64{1, 2}}
	for _, row := range []struct {
		disjoint bool
		with     []mechanisms.Draw // draws of one run; all scores of the other run are 0
		fault    bool
	}{
		{false, []mechanisms.Draw{of(1, 10, -10), of(1, -10, 10), of(2, 20, 0)}, false},
		{false, []mechanisms.Draw{of(1, 10, -11)}, true},
		{false, []mechanisms.Draw{of(1, 0, 21)}, true},
		{true, []mechanisms.Draw{of(1, 20, 0), of(2, 0, 20), of(2, 0, 0)}, false},
		{true, []mechanisms.Draw{of(1, 10, 0), of(1, 0, -10)}, false},
		{true, []mechanisms.Draw{of(1, 10, 0), of(1, 0, -11)}, true},
		{false, []mechanisms.Draw{other}, true},
		{false, []mechanisms.Draw{{Law: other.Law, Scores: []int64{2, 2}}}, true},
		{false, []mechanisms.Draw{{Law: other.Law, Scores: []int64{0, 0}}}, false},
	} {
		a, fault := Account{Law: law, Disjoint: row.disjoint}, ""
		for _, d := range row.with {
			if fault == "" {
				fault = a.Add(d, mechanisms.Draw{Step: d.Step, Law: d.Law, Scores: make([]int64, len(d.Scores))})
			}
		}
		if (fault != "") != row.fault {
			t.Errorf("%+v: %q", row, fault)
		}
	}
}
