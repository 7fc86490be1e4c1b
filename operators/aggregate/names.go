package aggregate

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"

	"oriel/operators"
	"oriel/operators/aggregate/interval"
	"oriel/schemas"
)

// Numbers names the numbers of a decision.
func (c configured) Numbers() *operators.Numbers {
	exact := c
	exact.exact = true
	n := &operators.Numbers{Exact: exact}
	labels := c.spec.labels()
	for _, memory := range c.memories {
		name := strconv.FormatUint(memory, 10)
		switch {
		case c.once:
			name = "step"
		case memory == 0:
			name = "all"
		}
		for _, statistic := range c.spec.statistics {
			low, high := c.spec.reach(statistic)
			for _, label := range labels {
				n.Names = append(n.Names, operators.Named{
					Statistic: statistic, Cell: label, Memory: name, Low: low, High: high,
				})
			}
		}
	}
	n.Bounds = func(d schemas.Decision) (low, high []float64, err error) { return bounds(n.Names, c.spec.numbers(), d) }
	return n
}

// reach is the public range of a statistic.
func (s *specification) reach(statistic string) (low, high float64) {
	switch statistic {
	case count, sum:
		return math.Inf(-1), math.Inf(1)
	case variance:
		return 0, float64(s.half() * s.half())
	}
	return s.low, s.high
}

// bounds are the ends that a decision gives of each number: of counts and sums by their deviations, which it has by view;
// of others as they stand, by view, then cell.
func bounds(names []operators.Named, aView int, d schemas.Decision) (low, high []float64, err error) {
	if len(d.Point) != len(names) {
		return nil, nil, fmt.Errorf("aggregate: a decision of %d numbers, want %d", len(d.Point), len(names))
	}
	members := map[string][]float64{}
	for _, x := range d.Extras {
		var numbers []float64
		if json.Unmarshal([]byte(x.JSON), &numbers) == nil { // others are no lists
			members[x.Name] = numbers
		}
	}
	at := func(name string, i int) float64 {
		if i >= len(members[name]) {
			err = fmt.Errorf("aggregate: a decision without %s, or with too short a one", name)
			return 0
		}
		return members[name][i]
	}
	taken := map[string]int{} // of lists of ends
	for i, n := range names {
		if n.Statistic == count || n.Statistic == sum {
			half := float64(interval.Z95 * at(n.Statistic+"_deviation", i/aView))
			low, high = append(low, d.Point[i]-half), append(high, d.Point[i]+half)
			continue
		}
		name := member(n.Statistic)
		low, high = append(low, at(name+"_low", taken[name])), append(high, at(name+"_high", taken[name]))
		taken[name]++
	}
	return low, high, err
}
