package aggregate

import (
	"slices"

	"oriel/operators/aggregate/interval"
)

// bounded returns the statistics that are ratios of released numbers. The widths of their intervals depend on the
// release, so decisions must publish both ends.
func (s *specification) bounded() []string {
	return slices.DeleteFunc(slices.Clone(s.statistics), func(name string) bool { return name == count || name == sum })
}

// appendIntervals appends the intervals of a view, cell by cell.
func (m *Machine) appendIntervals(t totals) {
	for k, statistic := range m.spec.statistics {
		if always(statistic) {
			continue
		}
		for cell := range m.spec.cells() {
			x := m.spec.interval(k, cell, t)
			m.members.low[k].Append(m.extras, x.low)
			m.members.high[k].Append(m.extras, x.high)
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
	count, total := column(sums[0], s.weights.Count), column(sums[1], s.weights.Mean)
	if s.statistics[k] == mean {
		return s.values(interval.Mean(total, count, interval.Z95))
	}
	x, square := interval.Variance(column(sums[2], s.weights.Square), total, count), float64(s.half()*s.half())
	return intervalEnds{float64(square * x.Low), float64(square * x.High)}
}

// values converts an interval of x̃ to units of values.
func (s *specification) values(x interval.Interval) intervalEnds {
	return intervalEnds{interval.Value(x.Low, s.low, s.high), interval.Value(x.High, s.low, s.high)}
}
