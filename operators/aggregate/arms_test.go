package aggregate

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"oriel/mechanisms/dp"
	"oriel/operators"
)

// TestDifferencesAreThoseOfTheEvents checks that without noise the differences between arms equal those computed from
// the events. It covers means and shares, each position of the arms' dimension, and the names in the descriptor.
func TestDifferencesAreThoseOfTheEvents(t *testing.T) {
	for _, cells := range []string{
		"variant=a|b|c,carrier=UA|AA,hour=0:24:3", "carrier=UA|AA,variant=a|b|c,hour=0:24:3",
		"carrier=UA|AA,hour=0:24:3,variant=a|b|c",
	} {
		kind := tumbling(6000)
		kind.Budget = dp.Budget{Epsilon: 50, Delta: 1e-6}
		c, m := config(t, kind, "CELLS="+cells, "VALUE=delay=-60:180", "STATISTICS=mean,count", "ARMS=variant",
			"ELSEWHERE=other", "WEIGHT_MAX=2")
		machine := quiet(t, c, m)
		counted := operators.ByCount(machine)
		truth := plain{spec: &c.spec, cells: make([][4]float64, c.spec.cells())}
		var d operators.Decision
		for _, e := range drawn(&c.spec, 6000, 12) {
			truth.add(e)
			for _, made := range counted.Add(nil, operators.Record{Event: e}) {
				d = made
			}
		}
		var stated struct {
			Arms struct {
				Control         string
				Of, Differences []string
			}
		}
		if err := json.Unmarshal(c.Descriptor(), &stated); err != nil {
			t.Fatal(err)
		}
		if len(stated.Arms.Differences) != 12 || stated.Arms.Control != "variant=a" ||
			!slices.Equal(stated.Arms.Of, []string{mean, share}) {
			t.Fatalf("descriptor %s", c.Descriptor())
		}
		labels := c.spec.labels()
		arm := func(label string) (of byte, rest string) {
			i := strings.Index(label, "variant=")
			return label[i+8], label[:i] + label[i+9:]
		}
		totals := map[byte]float64{}
		for i, label := range labels[:len(labels)-1] {
			of, _ := arm(label)
			totals[of] += truth.cells[i][0]
		}
		for i, label := range stated.Arms.Differences {
			of, rest := arm(label)
			at := slices.Index(labels, label)
			control := slices.IndexFunc(labels, func(other string) bool {
				if other == "other" {
					return false
				}
				a, b := arm(other)
				return a == 'a' && b == rest
			})
			x, y := truth.cells[at], truth.cells[control]
			for name, want := range map[string]float64{mean: x[1]/x[0] - y[1]/y[0], share: x[0]/totals[of] - y[0]/totals['a']} {
				got := extra(t, c, d, name+"_difference")[i]
				low, high := extra(t, c, d, name+"_difference_low")[i], extra(t, c, d, name+"_difference_high")[i]
				if math.Abs(got-want) > 1e-3 || !(low < want && want < high) || high-low > 60 {
					t.Errorf("%s: %s of %s is %g in [%g, %g], want %g", cells, name, label, got, low, high, want)
				}
			}
		}
	}
}

// TestDifferencesOfEmptyCells checks that the interval of a difference is the complete range of differences where
// counts are too small.
func TestDifferencesOfEmptyCells(t *testing.T) {
	c, m := config(t, total(1), "CELLS=variant=a|b,hour=0:24:2", "VALUE=delay=-60:180", "STATISTICS=mean,count",
		"ARMS=variant")
	d := operators.ByCount(quiet(t, c, m)).Add(nil, operators.Record{Null: true})[0]
	for name, most := range map[string]float64{mean: 240, share: 1} {
		for i := range 2 {
			low, high := extra(t, c, d, name+"_difference_low"), extra(t, c, d, name+"_difference_high")
			if len(low) != 2 || low[i] != -most || high[i] != most || extra(t, c, d, name+"_difference")[i] != 0 {
				t.Errorf("%s: [%g, %g], want all that there can be", name, low, high)
			}
		}
	}
}
