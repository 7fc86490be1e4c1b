package aggregate

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"

	"oriel/operators"
	"oriel/operators/aggregate/interval"
	"oriel/schemas/decision"
)

// difference is the suffix of the member that holds a statistic's differences between arms.
const difference = "_difference"

// almost is the deviation of sums without noise. It is not 0, because intervals need a positive deviation.
const almost = 1e-9

// Numbers names the numbers of a decision: its statistics, and the differences between arms.
func (c operator) Numbers() *operators.Numbers {
	exact := c
	exact.exact = true
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
	n.Read = func(d decision.Decision) ([]operators.Estimate, error) {
		return read(n.Names, c.spec.numbers(), len(c.memories)*c.spec.numbers(), d)
	}
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

// read returns the numbers of a decision: first the numbers of its point, then the numbers in separate members. The
// interval ends of counts and sums follow from the deviations of the views. The interval ends of other numbers are
// members, ordered by view and then by cell.
func read(names []operators.Named, aView, points int, d decision.Decision) (numbers []operators.Estimate, err error) {
	if len(d.Point) != points {
		return nil, fmt.Errorf("aggregate: a decision of %d numbers, want %d", len(d.Point), points)
	}
	members := map[string][]float64{}
	for _, x := range d.Extras {
		var list []float64
		if json.Unmarshal([]byte(x.JSON), &list) == nil { // members that are not lists of numbers are skipped
			members[x.Name] = list
		}
	}
	at := func(name string, i int) float64 {
		if i >= len(members[name]) {
			err = fmt.Errorf("aggregate: a decision without %s, or with too short a one", name)
			return 0
		}
		return members[name][i]
	}
	taken := map[string]int{} // numbers already read, by name of the member
	for i, n := range names {
		if n.Statistic == count || n.Statistic == sum {
			half := float64(interval.Z95 * at(n.Statistic+"_deviation", i/aView))
			numbers = append(numbers, operators.Estimate{
				Value: d.Point[i], Low: d.Point[i] - half, High: d.Point[i] + half, Shown: true,
			})
			continue
		}
		name := member(n.Statistic)
		k := taken[name]
		taken[name]++
		x := operators.Estimate{Low: at(name+"_low", k), High: at(name+"_high", k)}
		if i < points {
			x.Value = d.Point[i]
		} else {
			x.Value = at(name, k)
		}
		x.Shown = informs(x, n.Low, n.High)
		if marks := members["shown"]; len(marks) == len(names) {
			x.Shown = marks[i] == 1
		}
		numbers = append(numbers, x)
	}
	return numbers, err
}
