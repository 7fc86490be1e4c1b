package aggregate

import (
	"math"

	"oriel/operators"
)

// shown is how many standard deviations of its noise a count must exceed for the ratios over it to be shown: below,
// noise may be most of it.
const shown = 12

// always reports whether a number is shown whatever its noise: counts and sums are, ratios where their count exceeds
// its noise.
func always(statistic string) bool { return statistic == count || statistic == sum }

// leastCount is what the count of so many cells must exceed for ratios over it to be shown.
func (s *specification) leastCount(cells int, t totals) float64 {
	return float64(float64(shown*t.deviation/s.weights.Count) * math.Sqrt(float64(cells)))
}

// leastLast is what the last running count of a cell must exceed for its quantiles to be shown.
func (s *specification) leastLast(t totals) float64 {
	return float64(shown*float64(t.deviation*s.spread)) / s.weights.Quantile
}

// knowsDifference reports whether a difference is shown: what both its sides are divided by exceeds noise.
func (s *specification) knowsDifference(statistic string, c comparison, arm, other int, t totals) bool {
	if statistic == mean {
		least := s.leastCount(1, t)
		return s.countOf(c.cell(arm, other), t).Value > least && s.countOf(c.cell(0, other), t).Value > least
	}
	least := s.leastCount(c.treatments, t)
	return s.armTotal(c, arm, t) > least && s.armTotal(c, 0, t) > least
}

// newMarks returns those before the first step, of all views' numbers first, those of differences behind. Of numbers
// that are always shown they stay.
func (m *Machine) newMarks() []float64 {
	s := &m.spec
	marks := make([]float64, len(m.views)*(s.numbers()+len(m.differed)*m.compared.size()))
	for i := range len(m.views) * s.numbers() {
		marks[i] = marked(always(s.statistics[i%s.numbers()/s.cells()]))
	}
	return marks
}

// mark writes which numbers of a view are shown.
func (m *Machine) mark(view int, t totals) {
	if m.shown == nil {
		return
	}
	s, c := &m.spec, m.compared
	marks := m.shown.Numbers[view*s.numbers():]
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
	at := len(m.views)*s.numbers() + view*len(m.differed)*c.size()
	for _, statistic := range m.differed {
		for arm := 1; arm < c.arms; arm++ {
			for other := range c.treatments {
				m.shown.Numbers[at] = marked(s.knowsDifference(statistic, c, arm, other, t))
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

// informs reports whether an interval says more than the public range of its number does: all that decisions without
// marks tell of whether it is known.
func informs(x operators.Estimate, low, high float64) bool {
	const rounding = 1e-9 // of bringing an interval of [−1, 1] to units of values
	return !(x.High-x.Low >= float64((high-low)*(1-rounding)))
}
