package aggregate

import (
	"math"

	"oriel/operators"
)

// shown is how many standard deviations of its noise a count must exceed for the ratios over it to be shown: below,
// noise may be most of it.
const shown = 12

// knows reports whether a number is shown: a ratio is where its count exceeds noise, others always are.
func (s *specification) knows(k, cell int, t totals) bool {
	switch {
	case s.levels[k] > 0:
		last := t.running[(cell+1)*s.weights.Bins-1]
		return last > float64(shown*float64(t.deviation*s.spread))/s.weights.Quantile
	case s.statistics[k] == count, s.statistics[k] == sum:
		return true
	}
	return s.exceeds(s.countOf(cell, t).Value, 1, t)
}

// exceeds reports whether a count of so many cells exceeds its noise.
func (s *specification) exceeds(n float64, cells int, t totals) bool {
	return n > float64(float64(shown*t.deviation/s.weights.Count)*math.Sqrt(float64(cells)))
}

// knowsDifference reports whether a difference is shown: what both its sides are divided by exceeds noise.
func (s *specification) knowsDifference(statistic string, c comparison, arm, other int, t totals) bool {
	if statistic == mean {
		return s.exceeds(s.countOf(c.cell(arm, other), t).Value, 1, t) &&
			s.exceeds(s.countOf(c.cell(0, other), t).Value, 1, t)
	}
	return s.exceeds(s.armTotal(c, arm, t), c.treatments, t) && s.exceeds(s.armTotal(c, 0, t), c.treatments, t)
}

// mark writes which numbers of a view are shown. Marks of all views' numbers come first, those of differences behind.
func (m *Machine) mark(view int, t totals) {
	if m.shown == nil {
		return
	}
	s, c := &m.spec, m.compared
	marks := m.shown.Numbers[view*s.numbers():]
	for k := range s.statistics {
		for cell := range s.cells() {
			marks[k*s.cells()+cell] = marked(s.knows(k, cell, t))
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
