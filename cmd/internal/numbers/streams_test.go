package numbers

import (
	"math"
	"slices"
	"testing"
	"time"
)

// TestStreamsHaveIndependentNoise checks that the variances of two streams add up, each of its own steps, and so do
// their sums and steps.
func TestStreamsHaveIndependentNoise(t *testing.T) {
	c := &Collector{
		names: &Names{Cells: []string{"a", "b"}}, columns: []string{count, sum}, units: []float64{1, 2},
		partials: map[int64]map[stream]*partial{7: {
			{name: "0"}: {sums: []float64{1, 2, 3, 4}, spans: []span{{0, 4}}, windows: windows{3}},
			{name: "1"}: {sums: []float64{10, 20, 30, 40}, spans: []span{{0, 5}, {5, 9}}, windows: windows{5}},
		}},
	}
	variances, steps := c.variances(7)
	if want := []float64{4*9 + 9*25, 4 * (4*9 + 9*25)}; !slices.Equal(variances, want) || steps != 13 {
		t.Errorf("variances %g of %d steps, want %g of 13", variances, steps, want)
	}
	if got := c.sums(7, group{cells: []int{0, 1}}); !slices.Equal(got, []float64{33, 77}) {
		t.Errorf("sums %g", got)
	}
}

// TestIntervalsOfTheClockContainTheirTimes checks ⌊(time + offset)/interval⌋ on both sides of 1970, to the millisecond.
func TestIntervalsOfTheClockContainTheirTimes(t *testing.T) {
	for _, every := range []time.Duration{time.Hour, 24 * time.Hour, 90 * time.Minute} {
		for _, offset := range []time.Duration{0, 5*time.Hour + 30*time.Minute, -8 * time.Hour} {
			c := Clock{Every: every, Offset: offset}
			for k := int64(-3); k <= 3; k++ {
				border := k*every.Milliseconds() - offset.Milliseconds()
				for _, ms := range []int64{border - 1, border, border + 1} {
					want := int64(math.Floor(float64(ms+offset.Milliseconds()) / float64(every.Milliseconds())))
					if got := c.key(ms); got != want {
						t.Errorf("every %v, offset %v: %d ms is in interval %d, want %d", every, offset, ms, got, want)
					}
				}
			}
		}
	}
}
