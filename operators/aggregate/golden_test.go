package aggregate

import (
	"testing"

	"oriel/mechanisms"
	"oriel/mechanisms/mechtest"
	"oriel/mechanisms/mechtest/goldentest"
	"oriel/operators"
)

// TestGoldenDecisions checks that no change alters decisions without noise unintentionally. The golden bytes of noise
// are in mechanisms.
func TestGoldenDecisions(t *testing.T) {
	want := map[string]string{
		"life":               "0207b4f4ddfa908a87b940a4c5b1116f",
		"life, every second": "e1aaf8f7e4ef84bfa03afd7cc04b272a",
		"weights up to 1":    "7d19cc3698166213a3aa734853a942f2",
		"total":              "93bed99f9787911c0822aa71884e6185",
		"tumbling":           "799a4ce3d431187774bfcf8b483048d7",
		"quantiles and arms": "a1d518d65a174cf75a56ff8e063c5fae",
		"quantiles alone":    "8bf9c32962b816d55417a0af94b43264",
		"whole numbers":      "b4d25c24937083f4151830bec2ffc390",

		"an experiment for life":    "abcdb396a3f9bcdf16ff8ee626c22a63",
		"an experiment over totals": "06efbd5fe7b425ba91eb689d07d4a301",
	}
	for _, kind := range kinds {
		c, m := config(t, kind.m(2), kind.lines...)
		if got := hashed(t, c, m); got != want[kind.name] {
			t.Errorf("%s: %s, stored %s", kind.name, got, want[kind.name])
		}
	}
}

// hashed returns the digest of the decisions and increments of 200 random events.
func hashed(t *testing.T, c operator, m mechanisms.Config) string {
	t.Helper()
	machine, err := newMachine(c, mechtest.ZeroStream(t, m))
	if err != nil {
		t.Fatal(err)
	}
	counted := operators.ByCount(machine)
	digest := goldentest.NewDigest()
	for _, e := range drawn(&c.spec, 200, 11) {
		for _, d := range counted.Add(nil, operators.Record{Event: e}) {
			digest.Numbers(d.Point...)
			for k, extra := range c.Extras() {
				if extra.Name == "increments" {
					digest.Numbers(d.Extras[k].Numbers...)
				}
			}
		}
	}
	return digest.String()
}
