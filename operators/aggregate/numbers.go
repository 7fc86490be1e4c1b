package aggregate

import (
	"math"

	"oriel/operators/aggregate/block"
)

// squares is the column of (x̃² − ½), which no statistic shows by itself.
const squares = "squares"

// columns names the released columns of a cell, in their order. Those of bins are named as running counts, which is how
// they are shown: below=x counts the values below x.
func (s *specification) columns() []string {
	var names []string
	if s.weights.Count > 0 {
		names = append(names, count)
	}
	if s.weights.Mean > 0 {
		names = append(names, sum)
	}
	if s.weights.Square > 0 {
		names = append(names, squares)
	}
	for bin := range s.weights.Bins {
		names = append(names, "below="+decimal(s.edge(bin+1)))
	}
	return names
}

// edge is the lower edge of a bin of values.
func (s *specification) edge(bin int) float64 {
	return s.low + float64(float64(float64(bin)*(s.high-s.low))/float64(s.weights.Bins))
}

// totals is what the numbers of a view come from.
type totals struct {
	sums      []float64 // cell by cell, and column by column within
	running   []float64 // counts of events in a bin and before it, cell by cell, bin by bin within; none without quantiles
	ranked    []ranked  // statistic by statistic, cell by cell within; without quantiles none
	deviation float64   // of the noise of a sum
}

// accumulate writes the running counts of sums.
func (s *specification) accumulate(dst, sums []float64) {
	bins, width := s.weights.Bins, s.width()
	if bins == 0 {
		return
	}
	for cell := range s.cells() {
		running := dst[cell*bins:][:bins]
		block.Cumulate(running, sums[(cell+1)*width-bins:(cell+1)*width])
		for i := range running {
			running[i] /= s.weights.Quantile
		}
	}
}

// show writes the numbers of a view, statistic by statistic, and cell by cell within. With n, x and y the sums of a
// cell over its weights, and F the running counts of its m bins,
//
//	count      n
//	sum        middle·n + half·x                  the sum of clamped values
//	mean       middle + half·x/n                  within the public range
//	variance   half²·(y/n + ½ − (x/n)²)           from 0 to half²
//	quantile   where F crosses p·F_m              interval.Ranks; before planOfRanks interval.QuantileEstimate
//
// Where n, or F_m, is not above 12 deviations, all but counts and sums are the middle of their interval.
func (s *specification) show(dst []float64, t totals) []float64 {
	least, cells, width := s.leastCount(1, t), s.cells(), s.width()
	for k, statistic := range s.statistics {
		for cell := range cells {
			if statistic == count {
				dst = append(dst, t.sums[cell*width]/s.weights.Count)
			} else {
				dst = append(dst, s.number(k, cell, least, t))
			}
		}
	}
	return dst
}

// number is one of show, but for counts. Ratios over a count want more of it than least.
func (s *specification) number(k, cell int, least float64, t totals) float64 {
	if s.levels[k] > 0 {
		return s.quantile(k, cell, t)
	}
	width := s.width()
	at := t.sums[cell*width:][:width]
	n := at[0] / s.weights.Count
	switch s.statistics[k] {
	case mean:
		if n > least {
			return s.middle() + float64(s.half()*within(at[1]/s.weights.Mean/n, -1, 1))
		}
		return s.interval(k, cell, t).middle()
	case sum:
		return float64(s.middle()*n) + float64(s.half()*at[1]/s.weights.Mean)
	case variance:
		if n > least {
			x, most := at[1]/s.weights.Mean/n, float64(s.half()*s.half())
			return float64(most * within(at[2]/s.weights.Square/n+0.5-float64(x*x), 0, 1))
		}
		return s.interval(k, cell, t).middle()
	}
	panic("BUG: aggregate: a statistic without a number: " + s.statistics[k])
}

func within(x, low, high float64) float64 { return max(low, min(high, x)) }

// countDeviation is that of a count whose columns have the deviation: of the last running count, where nothing else
// counts.
func (s *specification) countDeviation(deviation float64) float64 {
	if s.weights.Count == 0 {
		return float64(deviation*s.spread) / s.weights.Quantile
	}
	return deviation / s.weights.Count
}

// sumDeviation is that of a sum of values whose columns have the deviation: the columns' noises are independent.
func (s *specification) sumDeviation(deviation float64) float64 {
	n, x := float64(s.middle()/s.weights.Count), float64(s.half()/s.weights.Mean)
	return float64(deviation * math.Sqrt(float64(n*n)+float64(x*x)))
}

// columnDeviations are those of increments as they are published, where a count has 1: column by column.
func (s *specification) columnDeviations() []float64 {
	var out []float64
	one := s.countDeviation(1)
	for _, weight := range [3]float64{s.weights.Count, s.weights.Mean, s.weights.Square} {
		if weight > 0 {
			out = append(out, 1/weight/one)
		}
	}
	for bin := range s.weights.Bins {
		out = append(out, math.Sqrt(block.Energy(bin+1))/s.weights.Quantile/one)
	}
	return out
}

// transposed writes increments in units of the columns, column by column, and cell by cell within: counts, x̃ and x̃² −
// ½, and running counts.
func (s *specification) transposed(dst []float64, t totals) []float64 {
	width, cells, bins := s.width(), s.cells(), s.weights.Bins
	column := 0
	for _, weight := range [3]float64{s.weights.Count, s.weights.Mean, s.weights.Square} {
		if weight == 0 {
			continue
		}
		for cell := range cells {
			dst = append(dst, t.sums[cell*width+column]/weight)
		}
		column++
	}
	for bin := range bins {
		for cell := range cells {
			dst = append(dst, t.running[cell*bins+bin])
		}
	}
	return dst
}
