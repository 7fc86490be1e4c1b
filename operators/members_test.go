package operators

import (
	"fmt"
	"testing"

	"oriel/mechanisms/dp"
	"oriel/mechanisms/protection"
	"oriel/schemas/decision"
)

// TestMembersHaveTheirValues checks that LifetimeMembers lists its names in the order in which AppendLifetimeMembers
// appends the values.
func TestMembersHaveTheirValues(t *testing.T) {
	event := protection.Event{Exchange: dp.Replace}
	user := protection.User{Exchange: dp.Replace, Separation: 3}
	week := user
	week.Steps = 700
	for _, x := range []struct {
		terms protection.Terms
		want  string
	}{
		{protection.Terms{Scope: protection.Window{Steps: 64}, Unit: user}, "[] []"},
		{protection.Terms{Scope: protection.Lifetime{Steps: 60, Within: 64}, Unit: event}, "[] []"},
		{protection.Terms{Scope: protection.PerStep{}, Unit: event}, "[] []"},
		{protection.Terms{Scope: protection.Decay{Steps: 100}, Unit: event}, "[memory] [100]"},
		{protection.Terms{Scope: protection.Decay{Steps: 100}, Unit: week}, "[memory user_window] [100 700]"},
	} {
		var names []string
		for _, extra := range LifetimeMembers(x.terms) {
			if extra.Kind != decision.ExtraNumber || extra.Text == "" {
				t.Errorf("%+v", extra)
			}
			names = append(names, extra.Name)
		}
		var values []float64
		for _, value := range AppendLifetimeMembers(make([]decision.ExtraValue, 1), x.terms)[1:] {
			values = append(values, value.Number)
		}
		if got := fmt.Sprint(names, values); got != x.want {
			t.Errorf("%v: %s, want %s", x.terms, got, x.want)
		}
	}
}

// TestDampingFollowsTheScope checks that noise is divided by the start plus the weight of t equal steps: t, or with a
// memory Σ (1 − 1/H)^s.
func TestDampingFollowsTheScope(t *testing.T) {
	d := Damping{Start: 3, Step: 0.5}
	for _, x := range []struct {
		scope protection.Scope
		want  float64
	}{
		{protection.Window{Steps: 64}, 3 + 0.5*3},
		{protection.Decay{Steps: 2}, 3 + 0.5*(1+0.5+0.25)},
	} {
		if got := d.After(x.scope, 3); got != x.want {
			t.Errorf("%s: %g, want %g", x.scope.Name(), got, x.want)
		}
	}
}
