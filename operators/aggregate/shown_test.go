package aggregate

import (
	"math"
	"slices"
	"strings"
	"testing"

	"oriel/mechanisms"
	"oriel/mechanisms/mechtest"
	"oriel/operators"
	"oriel/schemas/decision"
	"oriel/schemas/event"
)

// TestMarksFollowTheNoise checks that each number has one mark, in the order of the names. Counts and sums have
// mark 1. Ratios have it exactly where the published count exceeds 12 of its published deviations, so never without
// events.
func TestMarksFollowTheNoise(t *testing.T) {
	for name, m := range map[string]mechanisms.Config{"life": life(64, 3), "total": total(3), "tumbling": tumbling(40)} {
		m.Budget.Epsilon = 20
		lines := []string{
			"CELLS=carrier=UA|AA|HA,hour=0:24:2", "VALUE=delay=-60:180", "STATISTICS=mean,count,p50,variance,sum*0.5",
			"ELSEWHERE=other", "ARMS=carrier",
		}
		if name == "life" {
			lines = append(lines, "MEMORIES=16,64")
		}
		c, m := config(t, m, lines...)
		machine, err := newMachine(c, mechtest.Open(t, m, [32]byte{7}))
		if err != nil {
			t.Fatal(err)
		}
		counted := operators.ByCount(machine)
		numbers, members := c.Numbers(), c.Extras()
		at := slices.IndexFunc(members, func(x decision.Extra) bool { return x.Name == "shown" })
		encoder := decision.NewEncoder(decision.Config{Stream: "0"}, members)
		seen := map[bool]int{}
		for i := range 400 {
			e := event.Event{Numbers: []float64{float64(i % 2), float64(i / 2 % 24), float64(i%240 - 60)}}
			for _, d := range counted.Add(nil, operators.Record{Event: e}) {
				published, err := decision.Parse(encoder.Append(nil, d.Index, d.Step, d.Point, d.Extras))
				if err != nil {
					t.Fatal(err)
				}
				readings, err := numbers.Read(published)
				marks := d.Extras[at].Numbers
				if err != nil || len(marks) != len(readings) {
					t.Fatalf("%s: %d marks of %d numbers: %v", name, len(marks), len(readings), err)
				}
				for k, x := range readings {
					n := numbers.Names[k]
					always := n.Statistic == count || n.Statistic == sum
					want := always || known(numbers.Names, readings, n, d.Extras[0].Numbers)
					if marks[k] != 0 && marks[k] != 1 || (marks[k] == 1) != x.Shown ||
						n.Statistic != "p50" && x.Shown != want {
						t.Fatalf("%s: %+v, %+v: mark %g, want %t", name, n, x, marks[k], want)
					}
					seen[x.Shown && !always]++
					if strings.HasPrefix(n.Cell, "carrier=HA") && !always && x.Shown {
						t.Errorf("%s: %s of no events is shown: %+v", name, n.Statistic, x)
					}
				}
			}
		}
		if seen[true] == 0 || seen[false] == 0 {
			t.Errorf("%s: %v numbers are shown and not", name, seen)
		}
	}
}

// known reports, from published counts and their deviations by view, whether a ratio is more than noise.
func known(names []operators.Named, readings []operators.Estimate, n operators.Named, deviations []float64) bool {
	view, memories := 0, []string{}
	arms := map[string]float64{} // number of events of each arm
	cells := map[string]float64{}
	for i, x := range names {
		if !slices.Contains(memories, x.Memory) {
			memories = append(memories, x.Memory)
		}
		if x.Memory == n.Memory && x.Statistic == count {
			view = len(memories) - 1
			cells[x.Cell] = readings[i].Value
			arm, _, _ := strings.Cut(x.Cell, ",")
			arms[arm] += readings[i].Value
		}
	}
	arm, hour, _ := strings.Cut(n.Cell, ",")
	least := 12 * deviations[view]
	switch n.Statistic {
	case "mean_difference":
		return cells[n.Cell] > least && cells["carrier=UA,"+hour] > least
	case "share_difference":
		return arms[arm] > least*math.Sqrt2 && arms["carrier=UA"] > least*math.Sqrt2
	}
	return cells[n.Cell] > least
}

// TestQuantilesAreShownByTheirLastRunningCount checks when a quantile is shown: the last running count, which counts
// all events of its cell, must exceed 12 of its standard deviations. The noise of this count is a sum of the noise of
// all bins.
func TestQuantilesAreShownByTheirLastRunningCount(t *testing.T) {
	c, _ := config(t, life(8, 1), "CELLS=carrier=UA|AA", "VALUE=delay=-60:180", "STATISTICS=p50*2", "BINS=4")
	s := c.spec
	energy, power := 0.0, 1.0 // sum of the squared coefficients of (1 − z)^(−1/2), and the coefficient
	for k := range 4 {
		energy += power * power
		power *= float64(2*k+1) / float64(2*k+2)
	}
	least := 12 * 0.5 * math.Sqrt(energy) / 2
	for _, last := range []float64{least * 0.9999, least * 1.0001} {
		of := totals{running: []float64{9e9, 9e9, 9e9, 9e9, 0, 0, 0, last}, deviation: 0.5}
		if got, want := of.running[7] > s.leastLast(of), last > least; got != want {
			t.Errorf("a count of %g is shown: %t, want %t", last, got, want)
		}
	}
}
