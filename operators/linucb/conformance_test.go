package linucb

import (
	"testing"

	"oriel/mechanisms"
	"oriel/mechanisms/mechtest"
	"oriel/mechanisms/mechtest/goldentest"
	"oriel/mechanisms/mechtest/tiertest"
	"oriel/operators"
	"oriel/operators/optest"
)

// public returns the part of a state that does not depend on the contents of events: the model, and the keys of the
// contexts that wait and of the open step.
func (c operator) public(state []byte) []byte {
	out := append([]byte(nil), state...)
	if !c.served {
		return out
	}
	own := out[len(out)-4-int(c.batch)*actionLen-c.waiting.StateLen():] // without the stream's state
	for k := range int(c.batch) {
		clear(own[4+k*actionLen:][:4]) // keeps the answer kind, which is public
	}
	table := own[4+int(c.batch)*actionLen:]
	copy(table, c.waiting.Public(table))
	return out
}

func TestConformance(t *testing.T) {
	batches := []uint64{1, 3}
	for i, kind := range kinds {
		for _, batch := range tiertest.Runs(batches[i%2:i%2+1], batches) {
			kind.m.Batch = batch
			c, m := config(t, kind.m, kind.lines...)
			t.Run(kind.name, func(t *testing.T) {
				optest.RunServing(t, optest.Of(t, c, m), keyOf, c.public, drawn(c, 60, batch))
			})
		}
	}
}

// TestGoldenDecisions checks that decisions without noise keep their bytes, because existing deployments have published
// them. Golden tests of the noise are in mechanisms.
func TestGoldenDecisions(t *testing.T) {
	want := map[string]string{
		"logged for life":            "afc6920b5c4e9cfefae108026aeb3e41",
		"served for life":            "9877b41483267930b6a1c78b3a7a9218",
		"served, candidates":         "bf451bfc6e26ae99c48dfee2628e20b5",
		"logged, candidates, proved": "689d160d127234944309268ffb576d54",
		"served, proved":             "290dd4c741473c460b790457e5aad419",
		"served, doubled":            "9f9168125ddba0b94f1a19ecbd14e777",
		"served, products":           "47b63c37d1bc33a517370912502720b2",
		"logged, products, proved":   "ca8e9c2a7378bd9eab028531b6746d80",
	}
	f := func(c operator, m mechanisms.Config, name, want string) {
		t.Helper()
		machine, err := newMachine(c, mechtest.ZeroStream(t, m))
		if err != nil {
			t.Fatal(err)
		}
		counted := operators.ByCount(machine)
		digest := goldentest.NewDigest()
		for i, e := range drawn(c, 200, 11) {
			for _, d := range counted.Add(nil, operators.Record{Event: e, Key: keyOf(i)}) {
				digest.Numbers(float64(d.Index))
				digest.Numbers(d.Point...)
				for _, extra := range d.Extras {
					digest.Numbers(extra.Number)
					digest.Text(extra.Text)
				}
			}
		}
		if got := digest.String(); got != want {
			t.Errorf("%s: %s, stored %s", name, got, want)
		}
	}
	for _, kind := range kinds {
		kind.m.Batch = 2
		c, m := config(t, kind.m, kind.lines...)
		f(c, m, kind.name, want[kind.name])
	}
}
