package operators_test

import (
	"testing"

	"oriel/operators"
)

// TestAnExperimentIsAnnouncedStepsAhead checks that at least 20 steps and at least 2000 events lie between the
// announcement of an experiment and its first step.
func TestAnExperimentIsAnnouncedStepsAhead(t *testing.T) {
	for batch, want := range map[uint64]uint64{1: 2000, 100: 2000, 101: 2020, 10_000: 200_000} {
		if got := operators.Announced(batch); got != want {
			t.Errorf("steps of %d events: announced %d events ahead, want %d", batch, got, want)
		}
	}
}
