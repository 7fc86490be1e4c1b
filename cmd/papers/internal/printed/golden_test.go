package printed

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"

	"oriel/cmd/internal/decisiontest"
	"oriel/mechanisms"
	"oriel/schemas"
)

// inputs are the golden cases of choices that papers print. Cases that differ only in their mechanism are in
// decisiontest.
var inputs = map[string][]string{
	"squared-paper": {
		"LOSS=squared", "UPDATE=llo", "SET=box", "RADIUS=0.5", "DIMENSION=6", "WINDOW=8", "STRONG_CONVEXITY=0.1",
		"CONSTANTS=paper", "HORIZON=240",
	},
	"plays-printed": {
		"OPERATOR=bandit", "SET=l1-ball", "RADIUS=1", "DIMENSION=2", "BATCH=4", "PLAYS=6", "DELAY=1", "WINDOW=64",
		"HORIZON=64", "NOISE=paper", "EPSILON=1000",
	},
	"contexts-printed": {
		"OPERATOR=linucb", "PLAYED=logged", "ARMS=no,perhaps,yes", "DIMENSION=4", "WINDOW=256", "HORIZON=256",
		"EMIT_EVERY=8", "NOISE=paper", "EPSILON=40",
	},
}

// TestGoldenDecisions checks that printed choices give the bytes that they gave when services could still choose them.
func TestGoldenDecisions(t *testing.T) {
	env := inputs
	for _, input := range decisiontest.Inputs {
		env[input.Name] = input.Env
	}
	blocks := decisiontest.BlocksOf(t, "testdata/decisions.txt")
	if len(blocks) != 18 {
		t.Errorf("%d blocks", len(blocks))
	}
	for name, want := range blocks {
		events, mechanism, _ := strings.Cut(name, " ")
		lines := decisiontest.Env(mechanism, env[events])
		c := decisiontest.Case{Events: events, Mechanism: mechanism, Settings: decisiontest.LoadOf(t, Operators, lines...)}
		plan := decisiontest.Plan(t, want)
		if got := c.Block(t, plan, schemas.JSON); got != want {
			t.Errorf("%s: got\n%swant\n%s", name, got, want)
		}
		learner, err := c.Settings.Learner()
		if err != nil {
			t.Fatal(err)
		}
		calibrated, err := mechanisms.Calibrate(learner.Mechanism())
		if err != nil {
			t.Fatal(err)
		}
		fresh, err := calibrated.AppendBinary(nil)
		if frozen := plan[4 : 4+binary.LittleEndian.Uint32(plan)]; err != nil || !bytes.Equal(fresh, frozen) {
			t.Errorf("%s: calibrated to\n%x, %v, and frozen is\n%x", name, fresh, err, frozen)
		}
	}
}
