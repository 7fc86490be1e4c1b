package aggregate

import (
	"math"
	"strings"

	"oriel/operators/aggregate/interval"
	"oriel/operators/aggregate/trial"
	"oriel/schemas/decision"
)

// share is the name of the statistic that compares counts of arms.
const share = "share"

// notATest warns readers of intervals of differences: these intervals leave out sampling error.
const notATest = "noise of privacy alone; not a test."

// comparison compares the arms of one dimension within each combination of the other dimensions: each arm less the
// first arm, the control. Events outside all places have a cell that belongs to no arm and is left out.
type comparison struct {
	arms       int // number of arms, which are the places of the dimension
	stride     int // distance in the cells' order between two neighbouring arms
	treatments int // number of cells of each arm
}

// comparison returns the comparison of the specification; arms is 0 where there is none.
func (s *specification) comparison() comparison {
	after := s.product()
	for _, d := range s.dimensions {
		if after /= d.Size(); d.Name == s.arms {
			return comparison{arms: d.Size(), stride: after, treatments: s.product() / d.Size()}
		}
	}
	return comparison{}
}

// armNames returns the names of the places of the arms' dimension.
func (s *specification) armNames() (names []string) {
	for _, d := range s.dimensions {
		if d.Name == s.arms {
			for arm := range d.Size() {
				names = append(names, strings.TrimPrefix(d.Label(arm), d.Name+"="))
			}
		}
	}
	return names
}

// size returns the number of differences of one statistic.
func (c comparison) size() int { return max(0, c.arms-1) * c.treatments }

// cell returns the place of a cell among all cells. The cell is number other among the cells of the given arm.
func (c comparison) cell(arm, other int) int {
	return (other/c.stride*c.arms+arm)*c.stride + other%c.stride
}

// compared returns the names of the statistics whose differences are published: means, and shares where an arm has more
// than one cell. The share of a cell is its fraction of all events of its arm.
func (s *specification) compared() (names []string) {
	c := s.comparison()
	for _, name := range s.statistics {
		switch {
		case c.size() == 0:
		case name == mean:
			names = append(names, mean)
		case name == count && c.treatments > 1:
			names = append(names, share)
		}
	}
	return names
}

// differenceLabels returns the labels of the cells of differences.
func (s *specification) differenceLabels() []string {
	c, labels := s.comparison(), s.labels()
	var names []string
	for arm := 1; arm < c.arms; arm++ {
		for other := range c.treatments {
			names = append(names, labels[c.cell(arm, other)])
		}
	}
	return names
}

// appendDifferences appends the differences of a view, and the ends of their intervals, to the values of a decision.
func (s *specification) appendDifferences(m *members, values []decision.ExtraValue, t totals) {
	c := s.comparison()
	for _, d := range m.differences {
		control := s.armTotal(c, 0, t)
		for arm := 1; arm < c.arms; arm++ {
			total := s.armTotal(c, arm, t)
			for other := range c.treatments {
				unit := s.half()
				var first, second interval.Estimate
				if d.statistic == share {
					unit = 1
					first, second = s.shareOf(c, c.cell(arm, other), total, t), s.shareOf(c, c.cell(0, other), control, t)
				} else {
					first, second = s.meanOf(c.cell(arm, other), t), s.meanOf(c.cell(0, other), t)
				}
				difference, ends := interval.Difference(first, second)
				d.value.Append(values, float64(unit*difference))
				d.low.Append(values, float64(unit*ends.Low))
				d.high.Append(values, float64(unit*ends.High))
			}
		}
	}
}

// outcomes describes where releases have the outcomes of the arms.
func (s *specification) outcomes() trial.Arms {
	c := s.comparison()
	return trial.Arms{
		Names: s.armNames(), Treatments: c.treatments, Cell: c.cell, Weights: s.weights,
		Outcome: s.value, Low: s.low, High: s.high,
	}
}

func (s *specification) countOf(cell int, t totals) interval.Noisy {
	return interval.Noisy{Value: t.sums[cell*s.width()] / s.weights.Count, Deviation: s.countDeviation(t.deviation)}
}

// armTotal returns the count of all events of an arm.
func (s *specification) armTotal(c comparison, arm int, t totals) float64 {
	total := 0.0
	for other := range c.treatments {
		total += s.countOf(c.cell(arm, other), t).Value
	}
	return total
}

// meanOf returns the mean of x̃ in a cell.
func (s *specification) meanOf(cell int, t totals) interval.Estimate {
	x := interval.Noisy{Value: t.sums[cell*s.width()+1] / s.weights.Mean, Deviation: t.deviation / s.weights.Mean}
	return interval.MeanOf(x, s.countOf(cell, t), s.law.Z95)
}

// shareOf returns the share of a cell among all events of its arm.
func (s *specification) shareOf(c comparison, cell int, total float64, t totals) interval.Estimate {
	part := s.countOf(cell, t)
	rest := interval.Noisy{
		Value: total - part.Value, Deviation: float64(part.Deviation * math.Sqrt(float64(c.treatments-1))),
	}
	return interval.ShareOf(part, rest, s.law.Z95)
}
