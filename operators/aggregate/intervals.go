package aggregate

import (
	"slices"

	"oriel/operators/aggregate/interval"
	"oriel/schemas/decision"
)

// bounded returns the statistics that are ratios of released numbers. The widths of their intervals depend on the
// release, so decisions must publish both ends.
func (s *specification) bounded() []string {
	return slices.DeleteFunc(slices.Clone(s.statistics), func(name string) bool { return always(name) })
}

// appendIntervals appends the intervals of a view to the values of a decision, cell by cell.
func (s *specification) appendIntervals(m *members, values []decision.ExtraValue, t totals) {
	for k, statistic := range s.statistics {
		if always(statistic) {
			continue
		}
		for cell := range s.cells() {
			x := s.interval(k, cell, t)
			m.low[k].Append(values, x.low)
			m.high[k].Append(values, x.high)
		}
	}
}

// intervalEnds holds the ends of an interval, in units of values.
type intervalEnds struct{ low, high float64 }

func (e intervalEnds) middle() float64 { return float64((e.low + e.high) / 2) }

// interval returns the interval of the k-th statistic of a cell.
func (s *specification) interval(k, cell int, t totals) intervalEnds {
	if s.levels[k] > 0 {
		return s.values(t.ranked[k*s.cells()+cell].within)
	}
	deviation := t.deviation
	sums := t.sums[cell*s.width():]
	column := func(sum, weight float64) interval.Noisy {
		return interval.Noisy{Value: sum / weight, Deviation: deviation / weight}
	}
	count, total := s.countOf(cell, t), column(sums[1], s.weights.Mean)
	if s.statistics[k] == mean {
		return s.values(interval.Mean(total, count, s.law.Z95))
	}
	x, square := interval.Variance(column(sums[2], s.weights.Square), total, count, s.law), float64(s.half()*s.half())
	return intervalEnds{float64(square * x.Low), float64(square * x.High)}
}

// values converts an interval of x̃ to units of values.
func (s *specification) values(x interval.Interval) intervalEnds {
	return intervalEnds{interval.Value(x.Low, s.low, s.high), interval.Value(x.High, s.low, s.high)}
}

// ranked is a quantile and its interval, in [−1, 1].
type ranked struct {
	estimate float64
	within   interval.Interval
}

// rank computes all quantiles of a view into dst: statistic by statistic, and within a statistic cell by cell. It does
// not write the entries of other statistics.
func (s *specification) rank(dst []ranked, t totals, scratch []float64) {
	bins, cells, deviation := s.weights.Bins, s.cells(), s.counting(t.deviation, s.weights.Quantile)
	for k, level := range s.levels {
		if level == 0 {
			continue
		}
		for cell := range cells {
			running, x := t.running[cell*bins:][:bins], &dst[k*cells+cell]
			x.estimate, x.within = s.ranks[k].Quantile(running, deviation, s.law.Z95, scratch)
		}
	}
}

// quantile returns the published number of one quantile.
func (s *specification) quantile(k, cell int, t totals) float64 {
	x := t.ranked[k*s.cells()+cell]
	if t.running[(cell+1)*s.weights.Bins-1] > s.leastLast(t) {
		return interval.Value(x.estimate, s.low, s.high)
	}
	return s.values(x.within).middle()
}
