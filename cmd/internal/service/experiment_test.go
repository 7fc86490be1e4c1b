package service

import (
	"strings"
	"testing"

	"oriel/pipeline/changelog"
)

// TestCostOfAnExperiment checks that an experiment that the horizon ends before its first look is not said to cost
// nothing.
func TestCostOfAnExperiment(t *testing.T) {
	for _, c := range []struct {
		wider float64
		want  string
	}{
		{0, "ORIEL_HORIZON ends before its first look, so it will never have a band."},
		{1, "0.0 % wider"},
		{1.0641, "6.5 % wider"},
	} {
		if got := costOf(changelog.Turn{Wider: c.wider}); !strings.Contains(got, c.want) {
			t.Errorf("%g times as wide: %q, want %q", c.wider, got, c.want)
		}
	}
}
