package numbers

import (
	"slices"
	"testing"

	"oriel/cmd/internal/numbers/clock"
)

// TestStreamsHaveIndependentNoise checks that the variances of two streams add up, each of its own steps, and so do
// their sums and steps.
func TestStreamsHaveIndependentNoise(t *testing.T) {
	plain, err := newFilter([]float64{8, 1 << 29, 1 << 28})
	if err != nil {
		t.Fatal(err)
	}
	c := &Collector{
		names: &Names{Cells: []string{"a", "b"}}, columns: []string{count, sum}, units: []float64{1, 2},
		partials: map[int64]map[clock.Stream]*partial{7: {
			{Name: "0"}: {sums: []float64{1, 2, 3, 4}, spans: []span{{0, 4}}, deviation: 3, filter: plain},
			{Name: "1"}: {sums: []float64{10, 20, 30, 40}, spans: []span{{0, 5}, {5, 9}}, deviation: 5, filter: plain},
		}},
	}
	variances, steps := c.variances(7)
	both := 9*plain.of([]span{{0, 4}}) + 25*plain.of([]span{{0, 9}})
	if want := []float64{both, 4 * both}; !slices.Equal(variances, want) || steps != 13 {
		t.Errorf("variances %g of %d steps, want %g of 13", variances, steps, want)
	}
	if got := c.sums(7, group{cells: []int{0, 1}}); !slices.Equal(got, []float64{33, 77}) {
		t.Errorf("sums %g", got)
	}
}
