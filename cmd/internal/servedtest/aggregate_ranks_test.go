package servedtest

import (
	"cmp"
	"math"
	"slices"
	"testing"

	"oriel/mechanisms/decay"
	"oriel/schemas/decision"
)

// weighted is a value with its decayed weight.
type weighted struct{ value, weight float64 }

// TestAggregateCoversArmsAndQuantiles checks intervals on twenty streams with the same events, served through a broker.
// Intervals of differences between arms must contain the true value in 95 % of cases. Intervals of quantiles must do so
// at least as often, because bins are so coarse that the intervals are whole bins. The long form (see
// TestAggregateCovers) uses all flights by origin, with a limit of three standard errors, and finer bins for quantiles,
// too.
func TestAggregateCoversArmsAndQuantiles(t *testing.T) {
	const arms, others = 3, 4
	cells, arm, memories, every, away := "a=x|y|z,b=0:4:4", "a", []uint64{50, 200}, 50, 6.11
	rows, epsilon, bins, least := few(1500), "100", "16", []string{"p50", "p90"}
	if *allFlights != "" {
		origins := []string{"EWR", "JFK", "LGA"}
		cells, arm, memories = "origin=EWR|JFK|LGA,hour=0:24:4", "origin", []uint64{1000, 16000, 250000}
		rows, epsilon, every, away = flightRows(t, "origin", origins, others), "1", 1000, 3
		bins, least = "256", nil
	}
	f := servesSeeds(t, rows, memories, every, map[string]string{
		"ORIEL_CELLS": cells, "ORIEL_STATISTICS": "count,mean,p50,p90", "ORIEL_BINS": bins, "ORIEL_ARMS": arm,
		"ORIEL_EPSILON": epsilon,
	})
	truths, shares := map[[2]int][][]weighted{}, map[string]share{}
	for seed := range seeds {
		for _, r := range f.Read(f.Topic("decisions"), int32(seed), false) {
			d, err := decision.Parse(r.Value)
			if err != nil {
				t.Fatal(err)
			}
			for view, memory := range memories {
				if !looksAt(d.Step, memory, len(rows), every) {
					continue
				}
				at := [2]int{view, int(d.Step)}
				if truths[at] == nil {
					truths[at] = sorted(rows[:d.Step], arms*others, memory)
				}
				judgeArms(t, d, view, others, truths[at], seed, shares)
				judgeQuantiles(t, d, view, truths[at], seed, shares)
			}
		}
	}
	reportShares(t, shares, away, least...)
}

// sorted returns the values of each cell in ascending order, with their decayed weights.
func sorted(rows []row, cells int, memory uint64) [][]weighted {
	all, weight := make([][]weighted, cells), 1.0
	for i := len(rows) - 1; i >= 0 && weight > 1e-12; i-- {
		if cell := rows[i].cell; cell >= 0 {
			all[cell] = append(all[cell], weighted{rows[i].value, weight})
		}
		weight *= float64(decay.Decay(memory)) / (1 << 30)
	}
	for _, x := range all {
		slices.SortFunc(x, func(a, b weighted) int { return cmp.Compare(a.value, b.value) })
	}
	return all
}

// totals returns Σw and Σwx of a cell.
func totals(all []weighted) (n, sum float64) {
	for _, x := range all {
		n, sum = n+x.weight, sum+x.weight*x.value
	}
	return n, sum
}

// judgeArms adds the intervals of differences to shares, for the differences that decisions show.
func judgeArms(t *testing.T, d decision.Decision, view, others int, truth [][]weighted, seed int,
	shares map[string]share,
) {
	t.Helper()
	arms := len(truth) / others
	whole := make([]float64, arms)
	for cell, x := range truth {
		n, _ := totals(x)
		whole[cell/others] += n
	}
	for name, most := range map[string]float64{"mean": 240, "share": 1} {
		low, high := memberOf(t, d, name+"_difference_low"), memberOf(t, d, name+"_difference_high")
		for i := range (arms - 1) * others {
			arm, other := 1+i/others, i%others
			n, sum := totals(truth[arm*others+other])
			n0, sum0 := totals(truth[other])
			want := n/whole[arm] - n0/whole[0]
			if name == "mean" {
				want = sum/n - sum0/n0
			}
			at := view*(arms-1)*others + i
			if high[at]-low[at] < 1.99*most { // otherwise the difference is not shown
				pool(shares, "difference of "+name, seed, low[at], want, high[at])
			}
		}
	}
}

// judgeQuantiles adds the intervals of quantiles to shares, for cells whose counts decisions show.
func judgeQuantiles(
	t *testing.T, d decision.Decision, view int, truth [][]weighted, seed int, shares map[string]share,
) {
	t.Helper()
	cells, shown := len(truth), 12*memberOf(t, d, "count_deviation")[view]
	for name, level := range map[string]float64{"p50": 0.5, "p90": 0.9} {
		low, high := memberOf(t, d, name+"_low"), memberOf(t, d, name+"_high")
		for cell, x := range truth {
			if !(d.Point[view*cells*4+cell] > shown) {
				continue
			}
			n, _ := totals(x)
			want, below := math.NaN(), 0.0
			for _, y := range x {
				if below += y.weight; below >= level*n {
					want = y.value
					break
				}
			}
			at := view*cells + cell
			pool(shares, name, seed*cells+cell, low[at], want, high[at])
		}
	}
}
