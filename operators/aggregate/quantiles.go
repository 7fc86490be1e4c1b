package aggregate

import "oriel/operators/aggregate/interval"

// ranked is a quantile and its interval, in [−1, 1].
type ranked struct {
	estimate float64
	within   interval.Interval
}

// rank computes all quantiles of a view into dst: statistic by statistic, and within a statistic cell by cell. It does
// not write the entries of other statistics.
func (s *specification) rank(dst []ranked, t totals, scratch []float64) {
	bins, cells, deviation := s.weights.Bins, s.cells(), t.deviation/s.weights.Quantile
	for k, level := range s.levels {
		if level == 0 {
			continue
		}
		for cell := range cells {
			running, x := t.running[cell*bins:][:bins], &dst[k*cells+cell]
			x.estimate, x.within = s.ranks[k].Quantile(running, deviation, interval.Z95, scratch)
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
