package aggregate

import (
	"slices"
	"strings"

	"oriel/schemas/text"
)

// These are the statistics. The name of a quantile is p and a percentage, for example p50 and p99.9.
const (
	count    = "count"
	sum      = "sum"
	mean     = "mean"
	variance = "variance"
)

var statistics = []string{count, sum, mean, variance}

// minWeight is the smallest weight of a column. It keeps every coordinate far above a lattice unit.
const minWeight = 1e-3

// percentOf parses the name of a quantile; it returns 0 for any other name.
func percentOf(name string) float64 {
	digits, found := strings.CutPrefix(name, "p")
	percent, err := text.ParseNumber(digits)
	if !found || err != nil || strings.Trim(digits, "0123456789.") != "" || !(percent >= 0.01 && percent <= 99.99) {
		return 0
	}
	return percent
}

// parseStatistic parses a name, or name*weight.
func parseStatistic(s string) (name string, weight float64, ok bool) {
	name, factor, weighted := strings.Cut(s, "*")
	name, weight = strings.TrimSpace(name), 1
	if weighted {
		var err error
		if weight, err = text.ParseNumber(factor); err != nil {
			return name, weight, false
		}
	}
	percent := percentOf(name)
	if percent > 0 {
		name = "p" + decimal(percent)
	}
	ok = percent > 0 || slices.Contains(statistics, name)
	return name, weight, ok && weight >= minWeight && weight <= 1/minWeight
}

// weigh sets the weights of columns: 1, or the weight that a statistic which needs the column names. It returns a
// statistic whose weight conflicts with another's. The count has no column where only quantiles are asked for, because
// their last running count is a count.
func (s *specification) weigh(names []string, weights []float64, bins int) (conflict string) {
	s.statistics, s.levels = names, make([]float64, len(names))
	for i, name := range names {
		s.levels[i] = percentOf(name) / 100
		column := &s.weights.Mean
		switch {
		case s.levels[i] > 0:
			column, s.weights.Bins = &s.weights.Quantile, bins
		case name == count:
			column = &s.weights.Count
		case name == variance:
			column = &s.weights.Square
		}
		given := *column != 0 && *column != 1
		if given && weights[i] != 1 && weights[i] != *column {
			conflict = name
		}
		if !given {
			*column = weights[i]
		}
	}
	if s.weights.Square > 0 && s.weights.Mean == 0 {
		s.weights.Mean = 1
	}
	if s.weights.Count == 0 && (s.weights.Mean > 0 || s.weights.Quantile == 0) {
		s.weights.Count = 1
	}
	return conflict
}
