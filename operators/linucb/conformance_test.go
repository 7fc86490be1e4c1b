package linucb

import (
	"testing"

	"oriel/mechanisms/mechtest"
	"oriel/operators"
	"oriel/operators/optest"
)

// public is what of a state says nothing of events: the model, and of what waits and of the open step which keys they
// are.
func (c configured) public(state []byte) []byte {
	out := append([]byte(nil), state...)
	if !c.served {
		return out
	}
	own := out[len(out)-c.servedLen():] // the stream's is cut out
	for k := range int(c.batch) {
		clear(own[4+k*actionLen:][:4])
	}
	table := own[4+int(c.batch)*actionLen:]
	copy(table, c.waiting.Public(table))
	return out
}

func TestConformance(t *testing.T) {
	for _, kind := range kinds {
		for _, batch := range []uint64{1, 3} {
			kind.m.Batch = batch
			c, m := config(t, kind.m, kind.lines...)
			plan, err := c.Plan(m)
			if err != nil {
				t.Fatal(err)
			}
			newMachine := func(tb testing.TB, open optest.Open) operators.Machine {
				machine, err := c.Open(plan, open(m))
				if err != nil {
					tb.Fatal(err)
				}
				return machine
			}
			t.Run(kind.name, func(t *testing.T) {
				optest.RunServing(t, newMachine, keyOf, c.public, drawn(c, 60, batch))
			})
		}
	}
}

// Bytes of decisions without noise never change: existing deployments have made them. The noise's are golden in
// mechanisms.
func TestGoldenDecisions(t *testing.T) {
	want := map[string]string{
		"logged for life":            "afc6920b5c4e9cfefae108026aeb3e41",
		"served for life":            "e300bb08796d47355ec6ccce0dbf7f4d",
		"served, candidates":         "6893a63af03a0a29a13f26808d96627b",
		"logged, candidates, proved": "689d160d127234944309268ffb576d54",
		"served, proved":             "7452035b19d38bcc6cd30c046ff9b172",
		"logged, as printed":         "a791431ca388f1d5d6ca3025d6f6a23d",
		"served, doubled":            "1c16ffced47368d46053ac7db3869778",
		"served, products":           "2c407dd7bdfc3909f05816240a077d10",
		"logged, products, proved":   "ca8e9c2a7378bd9eab028531b6746d80",
	}
	for _, kind := range kinds {
		kind.m.Batch = 2
		c, m := config(t, kind.m, kind.lines...)
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
		if got := digest.String(); got != want[kind.name] {
			t.Errorf("%s: %s, stored %s", kind.name, got, want[kind.name])
		}
	}
}
