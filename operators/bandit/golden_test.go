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
		"9c27f3a65cdf6ec1fb6561fc429d4ca3", "b1e1fac3abbb438b7b68374e70a6db9a", "9adff83daabe062252b9d8b7005c0cc8",
		"ed7876ee19be3caf9d0e8eec709837f9", "a7b3e3c8edcd58ec5fe61a954bb45200",
	} {
		c := kinds(t)[i]
		machine := opened(t, c, earlier(c), mechanism(c, "blt", 1), 1, true)
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
