package aggregate

import (
	"math"
	"slices"
	"strconv"
	"testing"

	"oriel/mechanisms"
	"oriel/mechanisms/decay"
	"oriel/mechanisms/dp"
	"oriel/operators"
)

// exact returns the quantile of weighted values: the least value x such that at least a share level of the total weight
// is on values up to x.
func exact(values, weights []float64, level float64) float64 {
	order := make([]int, len(values))
	total := 0.0
	for i := range order {
		order[i] = i
		total += weights[i]
	}
	slices.SortFunc(order, func(i, j int) int {
		if values[i] < values[j] {
			return -1
		}
		return 1
	})
	sum := 0.0
	for _, i := range order {
		if sum += weights[i]; sum >= level*total {
			return values[i]
		}
	}
	return math.NaN()
}

// TestQuantilesAreThoseOfTheEvents checks that without noise a quantile equals the quantile of the sorted values, up to
// the width of a bin, and that its interval contains it. It covers weights, memories, totals and windows.
func TestQuantilesAreThoseOfTheEvents(t *testing.T) {
	const records, bins = 3000, 48
	for _, kind := range []mechanisms.Config{life(4096, 1), total(1), tumbling(records)} {
		for _, more := range []string{"WEIGHT_MAX=0", "WEIGHT_MAX=2"} {
			kind.Budget = dp.Budget{Epsilon: 50, Delta: 1e-6} // a large ε, so that decisions show the numbers
			c, m := config(t, kind, "CELLS=carrier=UA|AA", "VALUE=delay=-60:180", "STATISTICS=p5,p50,p90,p99.5",
				"BINS="+strconv.Itoa(bins), more)
			machine := quiet(t, c, m)
			counted := operators.ByCount(machine)
			memory, decays := m.Scope.Memory()
			var values, weights [2][]float64
			var last operators.Decision
			for _, e := range drawn(&c.spec, records, 6) {
				for cell := range weights {
					for i := range weights[cell] {
						if decays {
							weights[cell][i] *= float64(decay.Decay(memory)) / (1 << 30)
						}
					}
				}
				if cell := int(e.Numbers[0]); cell >= 0 {
					weight := 1.0
					if c.spec.weightMax > 0 {
						weight = min(e.Weight, c.spec.weightMax)
					}
					values[cell] = append(values[cell], max(-60, min(180, e.Numbers[1])))
					weights[cell] = append(weights[cell], weight)
				}
				for _, d := range counted.Add(nil, operators.Record{Event: e}) {
					last = d
				}
			}
			for k, name := range c.spec.statistics {
				for cell := range values {
					want, got := exact(values[cell], weights[cell], c.spec.levels[k]), last.Point[2*k+cell]
					low, high := extra(t, c, last, memberName(name)+"_low")[cell], extra(t, c, last, memberName(name)+"_high")[cell]
					if math.Abs(got-want) > 240.0/bins || !(low <= want && want <= high) || !(low <= got && got <= high) ||
						high-low > 100 {
						t.Errorf("%s, %s, memory %d: %s of cell %d is %g in [%g, %g], want %g", m.Name, more, memory, name, cell, got,
							low, high, want)
					}
				}
			}
		}
	}
}

// TestQuantilesAloneHaveNoCount checks that a specification with only quantiles spends no noise on a separate count.
// The last running count is the count, and its deviation is published.
func TestQuantilesAloneHaveNoCount(t *testing.T) {
	c, _ := config(t, total(1), "VALUE=delay=-60:180", "STATISTICS=p50,p90*0.5", "BINS=32")
	with, _ := config(t, total(1), "VALUE=delay=-60:180", "STATISTICS=p50,p90*0.5,count", "BINS=32")
	if got := c.spec.columns(); len(got) != 32 || got[0] != "below=-52.5" || got[31] != "below=180" {
		t.Errorf("columns %v", got)
	}
	if c.spec.hot().Norm() >= with.spec.hot().Norm() || c.spec.weights.Quantile != 0.5 {
		t.Errorf("contributions of %v, with a count %v", c.spec.weights, with.spec.weights)
	}
	if got, want := c.spec.columnDeviations()[31], 1.0; math.Abs(got-want) > 1e-12 {
		t.Errorf("the last running count has %g deviations of a count", got)
	}
}

// FuzzStatistics checks that each accepted name has a canonical form with the same meaning.
func FuzzStatistics(f *testing.F) {
	for _, text := range []string{"count", "mean*0.3", "p50", "p99.90*2", "p0.01", "p1e1", "p.5", "p-1"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, ok := statisticEntry(text)
		if !ok {
			return
		}
		one, weight, _ := parseStatistic(text)
		two, same, fine := parseStatistic(got)
		if !fine || one != two || weight != same || percentOf(one) != percentOf(two) {
			t.Errorf("%q is %q of %g, %q is %q of %g", text, one, weight, got, two, same)
		}
	})
}
