package linucb

import (
	"testing"

	"oriel/mechanisms"
	"oriel/mechanisms/mechtest"
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
	own := out[len(out)-4-int(c.batch)*c.actionLen()-c.waiting.StateLen():] // without the stream's state
	for k := range int(c.batch) {
		clear(own[4+k*c.actionLen():][:4]) // keeps the answer kind, which is public
	}
	table := own[4+int(c.batch)*c.actionLen():]
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
		"served for life":            "2de2026ae5cf5b7c1f71c552de03804a",
		"served, candidates":         "44cbf3636071054c6aa1d1be392b56cd",
		"logged, candidates, proved": "689d160d127234944309268ffb576d54",
		"served, proved":             "bfe99c405d8e2f68fe670576af234f03",
		"logged, as printed":         "a791431ca388f1d5d6ca3025d6f6a23d",
		"served, doubled":            "7de168db16b556eaa02d789dfe76c5dd",
		"served, products":           "79f216ebfe6494c94238e47326a38989",
		"logged, products, proved":   "ca8e9c2a7378bd9eab028531b6746d80",
	}
	earlier := map[string]string{ // bytes under plans of version 1, whose actions do not state their answer kind
		"served for life":    "e300bb08796d47355ec6ccce0dbf7f4d",
		"served, candidates": "6893a63af03a0a29a13f26808d96627b",
		"served, proved":     "7452035b19d38bcc6cd30c046ff9b172",
		"served, doubled":    "1c16ffced47368d46053ac7db3869778",
		"served, products":   "2c407dd7bdfc3909f05816240a077d10",
	}
	f := func(c operator, m mechanisms.Config, name, want string) {
		t.Helper()
		machine, err := newMachine(c, mechtest.ZeroStream(t, m))
		if err != nil {
			t.Fatal(err)
		}
		digest := optest.NewDigest()
		for i, e := range drawn(c, 200, 11) {
			for _, d := range machine.Add(nil, operators.Record{Event: e, Key: keyOf(i)}) {
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
		if c.withoutAnswers = true; c.served {
			f(c, m, kind.name+", of an earlier plan", earlier[kind.name])
		}
	}
}
