package observe

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"oriel/cmd/internal/decisiontest"
	"oriel/cmd/internal/replay"
	"oriel/operators"
	"oriel/schemas/decision"
)

// TestGaugesLeaveOutNoise covers a number that a decision marks as noise: neither its value nor the ends of its
// interval may have a series. The decision's other numbers must have theirs.
func TestGaugesLeaveOutNoise(t *testing.T) {
	s := decisiontest.Load(t, decisiontest.Env("blt", []string{
		"OPERATOR=aggregate", "CELLS=carrier=UA|AA", "VALUE=delay=-60:180", "STATISTICS=count,mean", "WINDOW=lifetime",
		"MEMORY=64", "EMIT_EVERY=50",
	})...)
	learner := s.Learner()
	operator := learner.Operator()
	events := bytes.Repeat([]byte(`{"carrier":"UA","delay":30}`+"\n"), 50)
	line := decisiontest.Replay(t, decisiontest.Model(t, s), replay.Options{Seed: strings.Repeat("5eed", 16)}, events)
	d, err := decision.Parse(bytes.TrimSpace(line))
	if err != nil {
		t.Fatal(err)
	}
	values, low, high, err := shownNumbers(operators.NumbersOf(operator)).Read(&d)
	if err != nil || len(values) != 4 {
		t.Fatalf("%v: %v", values, err)
	}
	for i, hidden := range []bool{false, false, false, true} { // only the mean of AA is hidden, because AA has no events
		for _, x := range []float64{values[i], low[i], high[i]} {
			if math.IsNaN(x) != hidden {
				t.Errorf("number %d: %g from %g to %g", i, values[i], low[i], high[i])
			}
		}
	}
}
