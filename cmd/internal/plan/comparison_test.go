package plan

import (
	"slices"
	"strings"
	"testing"

	"oriel/cmd/internal/figure/figuretest"
)

// TestComparisonOfNumbers checks that a comparison for an operator of numbers shows the half-width of a count. A
// comparison for a learner must show errors in loss units and the advice for learners instead.
func TestComparisonOfNumbers(t *testing.T) {
	print := func(c *Comparison, err error) string {
		t.Helper()
		var b strings.Builder
		if err == nil {
			err = c.Print(&b)
		}
		if err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	c, err := Compare(countingInput(t, total...), []float64{1, 2}, []uint64{64, 128})
	said := print(c, err)
	if !strings.Contains(said, "count") || strings.Contains(said, "R/10") || strings.Contains(said, "loss units") {
		t.Error(said)
	}
	for i, changes := range [][]string{
		{"ORIEL_WINDOW=64", "ORIEL_EPSILON=1"},
		{"ORIEL_WINDOW=64", "ORIEL_EPSILON=2"},
		{"ORIEL_WINDOW=128", "ORIEL_EPSILON=1"},
		{"ORIEL_WINDOW=128", "ORIEL_EPSILON=2"},
	} {
		near(t, "count", c.Rows[i].Count, float64(numbersOf(t,
			append(changes, "ORIEL_MEMORY=")...).Numbers.Views[0].Count.Half), 0)
	}
	if texts := figuretest.Texts(t, c.Slide()); !slices.Contains(texts, "± of a count at 95 %") {
		t.Errorf("the slide says %q", texts)
	}
	c, err = Compare(everySetting[0].input(), []float64{1}, []uint64{64})
	if said := print(c, err); strings.Contains(said, "count") || !strings.Contains(said, "rms of a") ||
		c.Rows[0].Count != 0 {
		t.Error(said)
	}
}
