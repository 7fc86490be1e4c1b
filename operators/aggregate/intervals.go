package aggregate

import (
	"slices"

	"oriel/operators/aggregate/interval"
	"oriel/schemas"
)

// bounded are the statistics that are ratios of releases, whose intervals are computed from the release: their width is
// no function of settings.
func (s *specification) bounded() []string {
	return slices.DeleteFunc(slices.Clone(s.statistics), func(name string) bool { return name != mean && name != variance })
}

// intervalExtras are two members for each: the lower and the upper ends.
func (s *specification) intervalExtras() []schemas.Extra {
	var extras []schemas.Extra
	for _, statistic := range s.bounded() {
		for _, end := range []struct{ name, text string }{{"low", "Lower"}, {"high", "Upper"}} {
			extras = append(extras, schemas.Extra{
				Name: statistic + "_" + end.name, Kind: schemas.ExtraNumbers,
				Text: end.text + " end of an interval with the " + statistic + " of the events, at 95 %, by view, then cell.",
			})
		}
	}
	return extras
}

// appendIntervals appends those of a view, cell by cell, to the members of intervalExtras.
func (s *specification) appendIntervals(extras []schemas.ExtraValue, sums []float64, deviation float64) {
	width := s.width()
	at := 0
	for _, statistic := range s.statistics {
		if statistic != mean && statistic != variance {
			continue
		}
		low, high := &extras[at].Numbers, &extras[at+1].Numbers
		at += 2
		for cell := range s.cells() {
			x := s.interval(statistic, sums[cell*width:][:width], deviation)
			*low, *high = append(*low, x.low), append(*high, x.high)
		}
	}
}

// ends are those of an interval, in units of values.
type ends struct{ low, high float64 }

func (e ends) middle() float64 { return float64((e.low + e.high) / 2) }

// interval is that of a statistic of a cell from its sums.
func (s *specification) interval(statistic string, sums []float64, deviation float64) ends {
	column := func(sum, weight float64) interval.Noisy {
		return interval.Noisy{Value: sum / weight, Deviation: deviation / weight}
	}
	count, total := column(sums[0], s.weights.Count), column(sums[1], s.weights.Mean)
	if statistic == mean {
		x := interval.Mean(total, count, interval.Z95)
		return ends{s.middle() + float64(s.half()*x.Low), s.middle() + float64(s.half()*x.High)}
	}
	x, square := interval.Variance(column(sums[2], s.weights.Square), total, count), float64(s.half()*s.half())
	return ends{float64(square * x.Low), float64(square * x.High)}
}
