package aggregate

import (
	"math"

	"oriel/operators/aggregate/block"
	"oriel/operators/aggregate/interval"
	"oriel/operators/setting"
)

// squares is the name of the column of x̃² − ½. The column is not a statistic that users can choose.
const squares = "squares"

// columns returns the names of a cell's released columns, in order. Columns of bins are named as running counts,
// because they are published so: below=x counts the values below x.
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
		names = append(names, "below="+setting.Decimal(s.edge(bin+1)))
	}
	return names
}

// edge returns the lower edge of a bin of values.
func (s *specification) edge(bin int) float64 {
	return s.low + float64(float64(float64(bin)*(s.high-s.low))/float64(s.weights.Bins))
}

// totals holds the sums from which the numbers of a view are computed.
type totals struct {
	sums      []float64 // ordered by cell, then by column
	running   []float64 // counts of events in a bin and all earlier ones, by cell, then by bin; nil without quantiles
	ranked    []ranked  // by statistic, then by cell; nil without quantiles
	deviation float64   // standard deviation of the noise of a sum
}

// accumulate writes the running counts of released sums.
func (s *specification) accumulate(dst, sums []float64) {
	bins, width := s.weights.Bins, s.width()
	if bins == 0 {
		return
	}
	for cell := range s.cells() {
		running := dst[cell*bins:][:bins]
		block.Cumulate(running, sums[(cell+1)*width-bins:(cell+1)*width], s.reading)
		for i := range running {
			running[i] /= s.weights.Quantile
		}
	}
}

// show writes the numbers of a view: statistic by statistic, and within a statistic cell by cell. With n, x and y the
// sums of a cell over its weights, and F the running counts of its m bins,
//
//	count      n
//	sum        middle·n + half·x                  the sum of clamped values
//	mean       middle + half·x/n                  within the public range
//	variance   half²·(y/n + ½ − (x/n)²)           from 0 to half²
//	quantile   where F crosses p·F_m              interval.Ranks
//
// Where n, or F_m, is not above 12 deviations, the number is the middle of its interval, except counts and sums.
func (s *specification) show(dst []float64, t totals) []float64 {
	least, cells, width := s.leastCount(1, t), s.cells(), s.width()
	for k, statistic := range s.statistics {
		for cell := range cells {
			if counts(statistic) {
				dst = append(dst, t.sums[cell*width]/s.weights.Count)
			} else {
				dst = append(dst, s.number(k, cell, least, t))
			}
		}
	}
	return dst
}

// number returns a number of show other than a count. Ratios require a count above least.
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
			return interval.Value(at[1]/s.weights.Mean/n, s.low, s.high)
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

// countDeviation returns the deviation of a count whose columns have the given deviation. Without a column for the
// count it is the deviation of the last running count.
func (s *specification) countDeviation(deviation float64) float64 {
	if s.weights.Count == 0 {
		return float64(s.counting(deviation, s.weights.Quantile) * s.spread)
	}
	return s.counting(deviation, s.weights.Count)
}

// counting returns the deviation of a column that counts events with a weight: of counts, or of bins.
func (s *specification) counting(deviation, weight float64) float64 {
	if s.whole() {
		return interval.DiscreteDeviation(deviation / weight)
	}
	return deviation / weight
}

// continuous is countDeviation for noise that is not discrete. It is proportional to deviation.
func (s *specification) continuous(deviation float64) float64 {
	if s.weights.Count == 0 {
		return float64(deviation*s.spread) / s.weights.Quantile
	}
	return deviation / s.weights.Count
}

// whole reports whether counts and bins are released with discrete noise, on whole numbers: events without weights
// count 1 each.
func (s *specification) whole() bool { return s.law == interval.Laplace && s.weightMax == 0 }

// sumDeviation returns the deviation of a sum of values whose columns have the given deviation. The noise of different
// columns is independent.
func (s *specification) sumDeviation(deviation float64) float64 {
	n, x := float64(s.middle()/s.weights.Count), float64(s.half()/s.weights.Mean)
	if s.whole() {
		n = float64(s.middle()*s.countDeviation(deviation)) / deviation
	}
	return float64(deviation * math.Sqrt(float64(n*n)+float64(x*x)))
}

// columnDeviations returns the deviations of published increments, column by column, in units of the deviation of a
// count. With discrete noise all are those of the continuous law.
func (s *specification) columnDeviations() []float64 {
	var out []float64
	one := s.continuous(1)
	for _, weight := range [3]float64{s.weights.Count, s.weights.Mean, s.weights.Square} {
		if weight > 0 {
			out = append(out, 1/weight/one)
		}
	}
	for bin := range s.weights.Bins {
		out = append(out, math.Sqrt(block.Energy(s.reading[:bin+1]))/s.weights.Quantile/one)
	}
	return out
}

// transposed writes increments in units of the columns: column by column, and within a column cell by cell. The columns
// are counts, x̃, x̃² − ½, and running counts.
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
