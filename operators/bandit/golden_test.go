package bandit

import (
	"testing"

	"oriel/operators"
	"oriel/operators/optest"
)

// TestGoldenActions checks that actions without noise keep their bytes, because existing deployments have published
// them. Golden tests of the noise are in mechanisms.
func TestGoldenActions(t *testing.T) {
	for i, want := range []string{
		"9c27f3a65cdf6ec1fb6561fc429d4ca3", "29b1b3bfdbea230904fb1f7b262a59ef", "9adff83daabe062252b9d8b7005c0cc8",
		"2e1e4a68868f3ecd46194b0186cc8871", "96a134e754ea947aad7a0a4fb2e101c2",
	} {
		c := kinds(t)[i]
		machine := open(t, c, mechanism(c, "blt", 1), 1, true)
		digest := optest.NewDigest()
		made := machine.Open(nil)
		for k, e := range optest.Feedback(60, -2, 3) {
			for _, d := range made {
				digest.Numbers(d.Point...)
			}
			made = machine.Add(nil, operators.Record{Key: optest.ActionKey(c.Actions, k), Event: e})
		}
		if got := digest.String(); got != want {
			t.Errorf("%d: %s, want %s", i, got, want)
		}
	}
}
