package bandit

import (
	"testing"

	"oriel/mechanisms/mechtest/goldentest"
	"oriel/operators"
	"oriel/operators/optest"
)

// TestGoldenActions checks that actions without noise keep their bytes, because existing deployments have published
// them. Golden tests of the noise are in mechanisms.
func TestGoldenActions(t *testing.T) {
	for i, want := range []string{
		"9ee54f3fdc9e388b1ffc819549a46d32", "8222c3c4aa9c56f793010980be2b8531", "145c98ebe1d40822980bcb8f55375b4c",
		"83157bc9e3ccdf8105399a915ab8fd73", "1fc5eb07e2d5a9f87fe0ca1f4f4bf50d",
	} {
		c := kinds(t)[i]
		machine := open(t, c, mechanism(c, "blt", 1), 1, true)
		counted := operators.ByCount(machine)
		digest := goldentest.NewDigest()
		made := machine.Open(nil)
		for k, e := range optest.Feedback(60, -2, 3) {
			for _, d := range made {
				digest.Numbers(d.Point...)
			}
			made = counted.Add(nil, operators.Record{Key: optest.ActionKey(c.Actions, k), Event: e})
		}
		if got := digest.String(); got != want {
			t.Errorf("%d: %s, want %s", i, got, want)
		}
	}
}
