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
	"oriel/operators/setting"
	"oriel/schemas/decision"
)

// TestReadingsMatchTheDecision checks each number and its ends, as read from published bytes, by view, statistic
// and cell. No two numbers may have the same name.
func TestReadingsMatchTheDecision(t *testing.T) {
	for name, m := range map[string]mechanisms.Config{"life": life(64, 3), "total": total(3), "tumbling": tumbling(3)} {
		lines := []string{
			"CELLS=carrier=UA|AA,hour=0:24:2", "VALUE=delay=-60:180", "STATISTICS=mean,count,p50,variance,sum*0.5,p99.9",
			"ELSEWHERE=other", "ARMS=carrier",
		}
		_, decays := m.Scope.Memory()
		if decays {
			lines = append(lines, "MEMORIES=16,64,1000")
		}
		c, m := config(t, m, lines...)
		machine, err := newMachine(c, mechtest.Open(t, m, [32]byte{7}))
		if err != nil {
			t.Fatal(err)
		}
		counted := operators.ByCount(machine)
		numbers := c.Numbers()
		encoder := decision.NewEncoder(decision.Config{Stream: "0"}, c.Extras())
		decisions := 0
		for _, e := range drawn(&c.spec, 300, 5) {
			for _, d := range counted.Add(nil, operators.Record{Event: e}) {
				published, err := decision.Parse(encoder.Append(nil, d.Index, d.Step, d.Point, d.Extras))
				if err != nil {
					t.Fatal(err)
				}
				got, err := numbers.Read(published)
				if err != nil || len(got) != len(d.Point)+4*len(c.memories) || len(numbers.Names) != len(got) {
					t.Fatalf("%s: %d names and %d of %d numbers: %v", name, len(numbers.Names), len(got), len(d.Point), err)
				}
				decisions++
				at := 0
				for view, memory := range c.memories {
					for _, statistic := range c.spec.statistics {
						for cell, label := range c.spec.labels() {
							checkEnds(t, c, d, place{view, cell, statistic}, got[at])
							n := numbers.Names[at]
							if n.Statistic != statistic || n.Cell != label || decays && n.Memory != setting.Decimal(float64(memory)) {
								t.Fatalf("%s: number %d is named %+v", name, at, n)
							}
							at++
						}
					}
				}
				for view := range c.memories { // differences of one arm, in two cells
					for _, statistic := range []string{"mean_difference", "share_difference"} {
						for cell := range 2 {
							x := operators.Estimate{
								Value: extra(t, c, d, statistic)[view*2+cell], Low: extra(t, c, d, statistic+"_low")[view*2+cell],
								High: extra(t, c, d, statistic+"_high")[view*2+cell],
							}
							n := numbers.Names[at]
							if got[at] != x || n.Statistic != statistic || n.Cell != c.spec.differenceLabels()[cell] {
								t.Fatalf("%s: %+v is %+v, want %+v", name, n, got[at], x)
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
		if _, err := numbers.Read(decision.Decision{Point: make([]float64, len(c.memories)*c.spec.numbers())}); err == nil {
			t.Error("intervals of a decision that says none")
		}
	}
}

type place struct {
	view, cell int
	statistic  string
}

// checkEnds compares the ends of a number with the members of a decision.
func checkEnds(t *testing.T, c operator, d operators.Decision, p place, got operators.Estimate) {
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
		wantLow, wantHigh = extra(t, c, d, name+"_low")[p.view*cells+p.cell], extra(t, c, d,
			name+"_high")[p.view*cells+p.cell]
	}
	if math.Abs(got.Low-wantLow) > 1e-9 || math.Abs(got.High-wantHigh) > 1e-9 {
		t.Fatalf("%+v: %+v, want [%g, %g]", p, got, wantLow, wantHigh)
	}
}
