//go:build !kafka && !race

package main

import (
	"math"
	"testing"
)

// TestSetsOfTheReadme: README.md's command, with its settings, gives its figures; with one seed of three, so that a
// gain may be 5 % off.
func TestSetsOfTheReadme(t *testing.T) {
	r, shown := evalOfTheReadme(t, "### A set that serves all", `has (\d+) % of what .* and at ε = 0.1 (\d+) %`)
	for i, row := range r.Rows[:2] {
		if gain := 100 * float64(row.Gain); math.Abs(gain-shown[i]) > 5 {
			t.Errorf("ε = %g: %.1f %% of the gain are %g in README.md", row.Epsilon, gain, shown[i])
		}
	}
}
