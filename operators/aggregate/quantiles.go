package aggregate

import "oriel/operators/aggregate/interval"

// rank is the quantile of the k-th statistic of a cell, and its interval, in [−1, 1].
func (s *specification) rank(k, cell int, t totals) (estimate float64, x interval.Interval) {
	bins, level := s.weights.Bins, s.levels[k]
	running, deviation := t.running[cell*bins:][:bins], t.deviation/s.weights.Quantile
	if of := s.ranks[k]; of != nil {
		return of.Quantile(running, deviation, interval.Z95, t.scratch)
	}
	x = interval.Quantile(running, s.limits[k], level, float64(interval.Z95*t.deviation)/s.weights.Quantile)
	return interval.QuantileEstimate(running, level), x
}

// quantile is what is shown of it.
func (s *specification) quantile(k, cell int, t totals) float64 {
	last := t.running[(cell+1)*s.weights.Bins-1]
	estimate, x := s.rank(k, cell, t)
	if last > float64(shown*float64(t.deviation*s.spread))/s.weights.Quantile {
		return s.middle() + float64(s.half()*estimate)
	}
	return s.values(x).middle()
}
