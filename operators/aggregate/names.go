package aggregate

import (
	"fmt"
	"math"
	"strconv"

	"oriel/operators"
	"oriel/operators/aggregate/interval"
	"oriel/schemas"
)

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
	n.Read = func(d schemas.Decision) ([]operators.Estimate, error) { return c.numbers(d) }
	return n
}

// reach returns the public range of a statistic.
func (s *specification) reach(statistic string) (low, high float64) {
	switch statistic {
	case count, sum:
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
func (c operator) numbers(d schemas.Decision) (numbers []operators.Estimate, err error) {
	s, m := &c.spec, c.members()
	if want := len(c.memories) * s.numbers(); len(d.Point) != want {
		return nil, fmt.Errorf("aggregate: a decision of %d numbers, want %d", len(d.Point), want)
	}
	values, err := m.Read(d.Extras)
	if err != nil {
		return nil, fmt.Errorf("aggregate: %w", err)
	}
	for view := range c.memories {
		for k, statistic := range s.statistics {
			for cell := range s.cells() {
				x := operators.Estimate{Value: d.Point[len(numbers)]}
				switch statistic {
				case count:
					x.Low, x.High = around(x.Value, m.countDeviation.Of(values)[view])
				case sum:
					x.Low, x.High = around(x.Value, m.sumDeviation.Of(values)[view])
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

// around returns the ends of the interval of a number whose noise has the given deviation.
func around(x, deviation float64) (low, high float64) {
	half := float64(interval.Z95 * deviation)
	return x - half, x + half
}
