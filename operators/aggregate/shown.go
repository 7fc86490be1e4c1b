package aggregate

import "math"

// shown is the number of standard deviations of its noise that a count must exceed for decisions to show the ratios
// over it. A ratio over a smaller count may consist mostly of noise.
const shown = 12

// always reports whether a number is always shown. Counts and sums are; ratios are shown only if their count exceeds
// its noise.
func always(statistic string) bool { return counts(statistic) || statistic == sum }

// leastCount returns the number that the count of the given number of cells must exceed for ratios over it to be shown.
func (s *specification) leastCount(cells int, t totals) float64 {
	return float64(float64(shown*s.countDeviation(t.deviation)) * math.Sqrt(float64(cells)))
}

// leastLast returns the number that the last running count of a cell must exceed for its quantiles to be shown.
func (s *specification) leastLast(t totals) float64 {
	return float64(shown*float64(t.deviation*s.spread)) / s.weights.Quantile
}

// knowsDifference reports whether a difference is shown: the denominators of both sides must exceed their noise.
func (s *specification) knowsDifference(statistic string, c comparison, arm, other int, t totals) bool {
	if statistic == mean {
		least := s.leastCount(1, t)
		return s.countOf(c.cell(arm, other), t).Value > least && s.countOf(c.cell(0, other), t).Value > least
	}
	least := s.leastCount(c.treatments, t)
	return s.armTotal(c, arm, t) > least && s.armTotal(c, 0, t) > least
}

// newMarks returns the marks before the first step: all views' numbers first, then the differences. The marks of
// numbers that are always shown never change.
func (s *specification) newMarks(views int, m *members) []float64 {
	marks := make([]float64, views*(s.numbers()+len(m.differences)*s.comparison().size()))
	for i := range views * s.numbers() {
		marks[i] = marked(always(s.statistics[i%s.numbers()/s.cells()]))
	}
	return marks
}

// mark writes which numbers of a view are shown.
func (s *specification) mark(all []float64, view, views int, m *members, t totals) {
	marks := all[view*s.numbers():]
	cells, width, bins := s.cells(), s.width(), s.weights.Bins
	for k, statistic := range s.statistics {
		of := marks[k*cells:][:cells]
		switch {
		case always(statistic):
		case s.levels[k] > 0:
			least := s.leastLast(t)
			for cell := range of {
				of[cell] = marked(t.running[(cell+1)*bins-1] > least)
			}
		default:
			least := s.leastCount(1, t)
			for cell := range of {
				of[cell] = marked(t.sums[cell*width]/s.weights.Count > least)
			}
		}
	}
	c := s.comparison()
	at := views*s.numbers() + view*len(m.differences)*c.size()
	for _, d := range m.differences {
		for arm := 1; arm < c.arms; arm++ {
			for other := range c.treatments {
				all[at] = marked(s.knowsDifference(d.statistic, c, arm, other, t))
				at++
			}
		}
	}
}

func marked(known bool) float64 {
	if known {
		return 1
	}
	return 0
}
