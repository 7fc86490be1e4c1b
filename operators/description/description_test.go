package description

import (
	"testing"

	"oriel/mechanisms/protection"
)

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
