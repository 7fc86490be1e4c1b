package aggregate

import (
	"slices"
	"strings"

	"oriel/operators/aggregate/interval"
	"oriel/schemas/decision"
)

// bounded returns the statistics that are ratios of released numbers. The widths of their intervals depend on the
// release, so decisions must publish both ends.
func (s *specification) bounded() []string {
	return slices.DeleteFunc(slices.Clone(s.statistics), func(name string) bool { return name == count || name == sum })
}

// member returns a statistic's name for use within the name of a member: 99.9 becomes 99_9.
func member(statistic string) string { return strings.ReplaceAll(statistic, ".", "_") }

// intervalExtras returns two members for each bounded statistic: the lower ends and the upper ends.
func (s *specification) intervalExtras() []decision.Extra {
	var extras []decision.Extra
	for _, statistic := range s.bounded() {
		for _, end := range []struct{ name, text string }{{"low", "Lower"}, {"high", "Upper"}} {
			extras = append(extras, decision.Extra{
				Name: member(statistic) + "_" + end.name, Kind: decision.ExtraNumbers,
				Text: end.text + " end of an interval with the " + statistic + " of the events, at 95 %, by view, then cell.",
			})
		}
	}
	return extras
}

// appendIntervals appends the intervals of a view, cell by cell, to the members of intervalExtras.
func (s *specification) appendIntervals(extras []decision.ExtraValue, t totals) {
	at := 0
	for k, statistic := range s.statistics {
		if statistic == count || statistic == sum {
			continue
		}
		low, high := &extras[at].Numbers, &extras[at+1].Numbers
		at += 2
		for cell := range s.cells() {
			x := s.interval(k, cell, t)
			*low, *high = append(*low, x.low), append(*high, x.high)
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
