package aggregate

import (
	"math"
	"slices"
	"strings"
	"testing"

	"oriel/mechanisms"
	"oriel/mechanisms/mechtest"
	"oriel/operators"
	"oriel/operators/aggregate/interval"
	"oriel/schemas"
)

// TestBoundsAreWhatADecisionSays: the ends of each number, from the bytes that are published, by its view, statistic and
// cell; and each number has one name.
func TestBoundsAreWhatADecisionSays(t *testing.T) {
	for name, m := range map[string]mechanisms.Config{"life": life(64, 3), "total": total(3), "tumbling": tumbling(3)} {
		lines := []string{
			"CELLS=carrier=UA|AA,hour=0:24:2", "VALUE=delay=-60:180", "STATISTICS=mean,count,p50,variance,sum*0.5,p99.9",
			"ELSEWHERE=other",
		}
		if m.Memory > 0 {
			lines = append(lines, "MEMORIES=16,64,1000")
		}
		c, m := config(t, m, lines...)
		machine, err := newMachine(c, mechtest.Open(t, m, [32]byte{7}))
		if err != nil {
			t.Fatal(err)
		}
		numbers := c.Numbers()
		encoder := schemas.NewEncoder(schemas.DecisionConfig{Stream: "0"}, c.Extras())
		decisions := 0
		for _, e := range drawn(&c.spec, 300, 5) {
			for _, d := range machine.Add(nil, operators.Record{Event: e}) {
				published, err := schemas.ParseDecision(encoder.Append(nil, d.Index, d.Step, d.Point, d.Extras))
				if err != nil {
					t.Fatal(err)
				}
				low, high, err := numbers.Bounds(published)
				if err != nil || len(low) != len(d.Point) || len(numbers.Names) != len(d.Point) {
					t.Fatalf("%s: %d names and %d ends of %d numbers: %v", name, len(numbers.Names), len(low), len(d.Point), err)
				}
				decisions++
				at := 0
				for view, memory := range c.memories {
					for _, statistic := range c.spec.statistics {
						for cell, label := range c.spec.labels() {
							checkEnds(t, c, d, place{view, cell, statistic}, low[at], high[at])
							n := numbers.Names[at]
							if n.Statistic != statistic || n.Cell != label || m.Memory > 0 && n.Memory != decimal(float64(memory)) {
								t.Fatalf("%s: number %d is named %+v", name, at, n)
							}
							at++
						}
					}
				}
			}
		}
		if decisions != 100 {
			t.Errorf("%s: %d decisions", name, decisions)
		}
		if _, _, err := numbers.Bounds(schemas.Decision{Point: make([]float64, len(numbers.Names))}); err == nil {
			t.Error("bounds of a decision that says none")
		}
	}
}

type place struct {
	view, cell int
	statistic  string
}

// checkEnds compares with the members of a decision.
func checkEnds(t *testing.T, c configured, d operators.Decision, p place, low, high float64) {
	t.Helper()
	cells := c.spec.cells()
	var wantLow, wantHigh float64
	if p.statistic == count || p.statistic == sum {
		half := interval.Z95 * extra(t, c, d, p.statistic+"_deviation")[p.view]
		k := slices.Index(c.spec.statistics, p.statistic)
		value := d.Point[p.view*c.spec.numbers()+k*cells+p.cell]
		wantLow, wantHigh = value-half, value+half
	} else {
		name := strings.ReplaceAll(p.statistic, ".", "_")
		wantLow, wantHigh = extra(t, c, d, name+"_low")[p.view*cells+p.cell], extra(t, c, d, name+"_high")[p.view*cells+p.cell]
	}
	if math.Abs(low-wantLow) > 1e-9 || math.Abs(high-wantHigh) > 1e-9 {
		t.Fatalf("%+v: [%g, %g], want [%g, %g]", p, low, high, wantLow, wantHigh)
	}
}
