package aggregate

import (
	"math"
	"strings"

	"oriel/operators/aggregate/interval"
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
		if after /= d.size(); d.name == s.arms {
			return comparison{arms: d.size(), stride: after, treatments: s.product() / d.size()}
		}
	}
	return comparison{}
}

// armNames returns the names of the places of the arms' dimension.
func (s *specification) armNames() (names []string) {
	for _, d := range s.dimensions {
		if d.name == s.arms {
			for arm := range d.size() {
				names = append(names, strings.TrimPrefix(d.label(arm), d.name+"="))
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

// differenceExtras returns three members for each compared statistic: the differences, and the two ends of their
// intervals.
func (s *specification) differenceExtras() []decision.Extra {
	var extras []decision.Extra
	for _, name := range s.compared() {
		what := "means of the events"
		if name == share {
			what = "shares of an arm's events that are in a cell"
		}
		for _, member := range []struct{ suffix, text string }{
			{"", "Differences of the " + what + ", an arm's less the control's, by view, then arm, then cell."},
			{"_low", "Lower ends of intervals with the differences of the " + what + ", at 95 %: " + notATest},
			{"_high", "Upper ends of intervals with the differences of the " + what + ", at 95 %: " + notATest},
		} {
			extras = append(extras, decision.Extra{
				Name: name + "_difference" + member.suffix, Kind: decision.ExtraNumbers, Text: member.text,
			})
		}
	}
	return extras
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

// appendDifferences appends the values of the members that differenceExtras describes, computed from totals.
func (s *specification) appendDifferences(extras []decision.ExtraValue, t totals) {
	c, at := s.comparison(), 0
	for _, statistic := range s.statistics {
		shares := statistic == count && c.treatments > 1
		if c.size() == 0 || statistic != mean && !shares {
			continue
		}
		unit := s.half()
		if shares {
			unit = 1
		}
		numbers, low, high := &extras[at].Numbers, &extras[at+1].Numbers, &extras[at+2].Numbers
		at += 3
		control := s.armTotal(c, 0, t)
		for arm := 1; arm < c.arms; arm++ {
			total := s.armTotal(c, arm, t)
			for other := range c.treatments {
				var difference float64
				var ends interval.Interval
				if shares {
					difference, ends = interval.Difference(
						s.shareOf(c, c.cell(arm, other), total, t), s.shareOf(c, c.cell(0, other), control, t))
				} else {
					difference, ends = interval.Difference(s.meanOf(c.cell(arm, other), t), s.meanOf(c.cell(0, other), t))
				}
				*numbers = append(*numbers, float64(unit*difference))
				*low, *high = append(*low, float64(unit*ends.Low)), append(*high, float64(unit*ends.High))
			}
		}
	}
}

func (s *specification) countOf(cell int, t totals) interval.Noisy {
	return interval.Noisy{Value: t.sums[cell*s.width()] / s.weights.Count, Deviation: t.deviation / s.weights.Count}
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
	return interval.MeanOf(x, s.countOf(cell, t), interval.Z95)
}

// shareOf returns the share of a cell among all events of its arm.
func (s *specification) shareOf(c comparison, cell int, total float64, t totals) interval.Estimate {
	part := s.countOf(cell, t)
	rest := interval.Noisy{
		Value: total - part.Value, Deviation: float64(part.Deviation * math.Sqrt(float64(c.treatments-1))),
	}
	return interval.ShareOf(part, rest, interval.Z95)
}
