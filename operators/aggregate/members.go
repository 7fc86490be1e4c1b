package aggregate

import (
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"strings"

	"oriel/operators"
	"oriel/operators/aggregate/interval"
	"oriel/schemas/decision"
)

// members are the members of decisions.
type members struct {
	operators.Members
	countDeviation, sumDeviation operators.NumbersMember

	low, high   []operators.NumbersMember // by statistic; of counts and sums not declared
	differences []differenceMembers
	shown       operators.NumbersMember
	findings    operators.FindingMembers

	increments, windowDeviation, incrementFilter operators.NumbersMember

	byView []operators.NumbersMember // lists to which each view appends numbers
}

// differenceMembers are the differences of a compared statistic, and the ends of their intervals.
type differenceMembers struct {
	statistic        string
	value, low, high operators.NumbersMember
}

// maxWindow is log₂ of the longest window of which decisions publish the noise.
const maxWindow = 20

func (c operator) members() *members {
	m, s := &members{}, &c.spec
	views := func(name, text string, numbers int) operators.NumbersMember {
		m.byView = append(m.byView, m.Numbers(name, text, len(c.memories)*numbers))
		return m.byView[len(m.byView)-1]
	}
	m.countDeviation = views("count_deviation", "Standard deviation of the noise of a count, by view.", 1)
	if s.weights.Mean > 0 {
		m.sumDeviation = views("sum_deviation", "Standard deviation of the noise of a sum of values, by view.", 1)
	}
	m.low, m.high = make([]operators.NumbersMember, len(s.statistics)), make([]operators.NumbersMember, len(s.statistics))
	for k, statistic := range s.statistics {
		if always(statistic) {
			continue
		}
		name := memberName(statistic)
		interval := " end of an interval with the " + statistic + " of the events, at 95 %, by view, then cell."
		m.low[k] = views(name+"_low", "Lower"+interval, s.cells())
		m.high[k] = views(name+"_high", "Upper"+interval, s.cells())
	}
	for _, statistic := range s.compared() {
		of := "differences of the means of the events"
		if statistic == share {
			of = "differences of the shares of an arm's events that are in a cell"
		}
		name, size := statistic+difference, s.comparison().size()
		m.differences = append(m.differences, differenceMembers{
			statistic: statistic,
			value:     views(name, "D"+of[1:]+", an arm's less the control's, by view, then arm, then cell.", size),
			low:       views(name+"_low", "Lower ends of intervals with the "+of+", at 95 %: "+notATest, size),
			high:      views(name+"_high", "Upper ends of intervals with the "+of+", at 95 %: "+notATest, size),
		})
	}
	m.shown = m.Numbers("shown", "1 for each number that is more than noise, else 0: of a ratio, whether the count below it exceeds 12 "+
		"standard deviations of its noise. The numbers of decision in their order, and behind them the numbers of differences.",
		len(c.memories)*(s.numbers()+len(m.differences)*s.comparison().size()))
	if c.test != nil {
		m.findings = c.test.Experiment().Declare(&m.Members)
	}
	m.Lifetime(c.terms)
	if c.increments {
		c.declareIncrements(m)
	}
	return m
}

func (c operator) declareIncrements(m *members) {
	m.increments = m.Numbers("increments",
		"Sum of the increments since the decision before: by column, then cell; of bins, running counts.", c.spec.hot().Size())
	if c.perStep {
		return
	}
	m.windowDeviation = m.Numbers("window_deviation", "Standard deviation of the noise in a sum of the last 1, 2, 4, … steps' increments of "+
		"a count; between two lengths straight in logarithms of both, to a per cent; of other columns times increment_deviations of the "+
		"descriptor.", c.windows())
	m.incrementFilter = m.Numbers("increment_filter", "The exact law of the noise of increments: P, steps between two resets, then "+
		"poles q, then residues R, in units of 2⁻³⁰. Increment t has e_j of the draw of step t − j of its block: e_0 = 1, e_j = −Σ R·q^(j−1).",
		operators.AnyWidth)
}

// windows returns the number of lengths of windows for which decisions with increments publish the noise.
func (c operator) windows() int {
	memory, _ := c.terms.Scope.Memory()
	return min(maxWindow, bits.Len64(memory)+4) + 1
}

// memberName returns a statistic's name for use within the name of a member: 99.9 becomes 99_9.
func memberName(statistic string) string { return strings.ReplaceAll(statistic, ".", "_") }

// difference is the suffix of the member that holds a statistic's differences between arms.
const difference = "_difference"

// Numbers names the numbers of a decision: its statistics, and the differences between arms.
func (c operator) Numbers() *operators.Numbers {
	exact := c
	exact.exact = true
	if c.test != nil {
		test := *c.test
		test.Exact, exact.test = true, &test
	}
	n := &operators.Numbers{Exact: exact}
	name := func(memory uint64, statistics, cells []string, suffix string) {
		label := strconv.FormatUint(memory, 10)
		switch {
		case c.perStep:
			label = "step"
		case memory == 0:
			label = "all"
		}
		for _, statistic := range statistics {
			low, high := c.spec.reach(statistic + suffix)
			for _, cell := range cells {
				n.Names = append(n.Names, operators.Named{
					Statistic: statistic + suffix, Cell: cell, Memory: label, Low: low, High: high,
				})
			}
		}
	}
	for _, memory := range c.memories {
		name(memory, c.spec.statistics, c.spec.labels(), "")
	}
	for _, memory := range c.memories {
		name(memory, c.spec.compared(), c.spec.differenceLabels(), difference)
	}
	n.Read = func(d decision.Decision) ([]operators.Estimate, error) { return c.numbers(d) }
	return n
}

// reach returns the public range of a statistic.
func (s *specification) reach(statistic string) (low, high float64) {
	switch statistic {
	case count, persons, sum:
		return math.Inf(-1), math.Inf(1)
	case variance:
		return 0, float64(s.half() * s.half())
	case share + difference:
		return -1, 1
	case mean + difference:
		return s.low - s.high, s.high - s.low
	}
	return s.low, s.high
}

// numbers returns the numbers of a decision: first those of its point, then the differences. Counts and sums have their
// interval from the deviation of their view, and other numbers have its ends as members.
func (c operator) numbers(d decision.Decision) (numbers []operators.Estimate, err error) {
	s, m := &c.spec, c.members()
	if want := len(c.memories) * s.numbers(); len(d.Point) != want {
		return nil, fmt.Errorf("aggregate: a decision of %d numbers, want %d", len(d.Point), want)
	}
	values, err := m.Read(d.Extras)
	if err != nil {
		return nil, fmt.Errorf("aggregate: %w", err)
	}
	halves := s.sumHalves(m, values)
	for view := range c.memories {
		for k, statistic := range s.statistics {
			for cell := range s.cells() {
				x := operators.Estimate{Value: d.Point[len(numbers)]}
				switch statistic {
				case count, persons:
					x = s.aroundCount(x.Value, m.countDeviation.Of(values)[view])
				case sum:
					x = around(x.Value, halves[view])
				default:
					at := view*s.cells() + cell
					x.Low, x.High = m.low[k].Of(values)[at], m.high[k].Of(values)[at]
				}
				numbers = append(numbers, x)
			}
		}
	}
	size := s.comparison().size()
	for view := range c.memories {
		for _, d := range m.differences {
			for at := view * size; at < (view+1)*size; at++ {
				numbers = append(numbers, operators.Estimate{
					Value: d.value.Of(values)[at], Low: d.low.Of(values)[at], High: d.high.Of(values)[at],
				})
			}
		}
	}
	for i, mark := range m.shown.Of(values) {
		numbers[i].Shown = mark == 1
	}
	return numbers, nil
}

// around returns a number with its interval, x ± half.
func around(x, half float64) operators.Estimate {
	return operators.Estimate{Value: x, Low: x - half, High: x + half}
}

// aroundCount returns a count with its interval.
func (s *specification) aroundCount(x, deviation float64) operators.Estimate {
	if !s.whole() {
		return around(x, float64(s.law.Z95*deviation))
	}
	ends := interval.Discrete(x, deviation)
	return operators.Estimate{Value: x, Low: ends.Low, High: ends.High}
}

// sumHalves returns by view the half width of the intervals of sums.
func (s *specification) sumHalves(m *members, values []decision.ExtraValue) (halves []float64) {
	if s.weights.Mean == 0 {
		return make([]float64, len(m.countDeviation.Of(values)))
	}
	for view, deviation := range m.sumDeviation.Of(values) {
		half := float64(s.law.Z95 * deviation)
		if s.law == interval.Laplace {
			count := m.countDeviation.Of(values)[view]
			ofCount := float64(s.middle() * count)
			scale := math.Sqrt((float64(deviation*deviation) - float64(ofCount*ofCount)) / 2)
			half = interval.LaplaceSum(s.middle(), count, scale, s.whole())
		}
		halves = append(halves, half)
	}
	return halves
}
