package aggregate

import (
	"math/bits"
	"strings"

	"oriel/operators"
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
		name, interval := memberName(statistic), " end of an interval with the "+statistic+" of the events, at 95 %, by view, then cell."
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
		"standard deviations of its noise. The numbers of decision in their order, and behind them those of differences.",
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
	m.windowDeviation = m.Numbers("window_deviation", "Standard deviation of the noise in a sum of the last 1, 2, 4, … steps' increments of "+
		"a count; between two lengths straight in logarithms of both, to a per cent; of other columns times increment_deviations of the "+
		"descriptor.", c.windows())
	m.incrementFilter = m.Numbers("increment_filter", "What the noise of increments follows from exactly: P, steps between two resets, then "+
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
