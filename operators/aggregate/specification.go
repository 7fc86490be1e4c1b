package aggregate

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"oriel/operators/aggregate/block"
)

// The statistics.
const (
	count    = "count"
	sum      = "sum"
	mean     = "mean"
	variance = "variance"
)

var statistics = []string{count, sum, mean, variance}

// specification is what is asked for: public, and fixed at opening.
type specification struct {
	dimensions []dimension
	other      bool // events of no cell have one of their own
	value      string
	low, high  float64 // of values
	statistics []string
	weights    block.Block // a, b, c
	weightMax  float64     // 0: events have no weight
}

// cells is how many there are, with that of events elsewhere.
func (s *specification) cells() int {
	n := 1
	for _, d := range s.dimensions {
		n *= d.size()
	}
	if s.other {
		n++
	}
	return n
}

// width is how many released coordinates a cell has.
func (s *specification) width() int { return s.weights.Size() }

// numbers is how many numbers a view shows.
func (s *specification) numbers() int { return len(s.statistics) * s.cells() }

// hot is the leaf.
func (s *specification) hot() block.OneHot {
	weight := s.weightMax
	switch weight {
	case 0:
		weight = 1 // all weights are 1
	case 1:
		weight = 1 + 0x1p-52 // 1 would say that there are none
	}
	return block.OneHot{Block: s.weights, Cells: s.cells(), Weight: weight}
}

// middle and half are those of the range of values.
func (s *specification) middle() float64 { return float64((s.low + s.high) / 2) }
func (s *specification) half() float64   { return float64((s.high - s.low) / 2) }

// labels names the cells, in their order.
func (s *specification) labels() []string {
	names := []string{""}
	for _, d := range s.dimensions {
		var longer []string
		for _, name := range names {
			for place := range d.size() {
				next := d.label(place)
				if name != "" {
					next = name + "," + next
				}
				longer = append(longer, next)
			}
		}
		names = longer
	}
	if len(s.dimensions) == 0 {
		names[0] = "all"
	}
	if s.other {
		names = append(names, "other")
	}
	return names
}

// canonical is the specification as a plan holds it.
func (s *specification) canonical() string {
	lines := []string{
		"other=" + strconv.FormatBool(s.other), "value=" + s.value + "=" + decimal(s.low) + ":" + decimal(s.high),
		"statistics=" + strings.Join(s.statistics, ","),
		"weights=" + decimal(s.weights.Count) + "," + decimal(s.weights.Mean) + "," + decimal(s.weights.Square),
		"weight_max=" + decimal(s.weightMax),
	}
	for _, d := range s.dimensions {
		lines = append(lines, "dimension="+d.canonical())
	}
	return strings.Join(lines, "\n") + "\n"
}

// parseStatistic reads a name, or name*weight.
func parseStatistic(text string) (name string, weight float64, ok bool) {
	name, factor, weighted := strings.Cut(text, "*")
	name, weight = strings.TrimSpace(name), 1
	if weighted {
		var err error
		if weight, err = strconv.ParseFloat(strings.TrimSpace(factor), 64); err != nil {
			return name, weight, false
		}
	}
	return name, weight, slices.Contains(statistics, name) && weight >= minWeight && weight <= 1/minWeight
}

// minWeight keeps every coordinate well above a lattice unit.
const minWeight = 1e-3

// parseValue reads name=low:high.
func parseValue(text string) (name string, low, high float64, ok bool) {
	name, rest, found := strings.Cut(text, "=")
	from, to, ranged := strings.Cut(rest, ":")
	if name = strings.TrimSpace(name); !found || !ranged || !isName(name) {
		return name, 0, 0, false
	}
	low, high, ok = parseEnds(from, to)
	return name, low, high, ok
}

// weigh sets the weights of columns: 1, or what one of the statistics that need a column says. It names a statistic that says another.
func (s *specification) weigh(names []string, weights []float64) (conflict string) {
	s.statistics, s.weights.Count = names, 1
	for i, name := range names {
		weight := weights[i]
		switch name {
		case count:
			s.weights.Count = weight
		case variance:
			s.weights.Square = weight
		default:
			given := s.weights.Mean != 0 && s.weights.Mean != 1
			if given && weight != 1 && weight != s.weights.Mean {
				conflict = name
			}
			if !given {
				s.weights.Mean = weight
			}
		}
	}
	if s.weights.Square > 0 && s.weights.Mean == 0 {
		s.weights.Mean = 1
	}
	return conflict
}

// cell returns the cell of an event's numbers, −1 for none; ok is false where no decoder gives them.
func (s *specification) cell(numbers []float64) (cell int, ok bool) {
	inside := true
	for i, d := range s.dimensions {
		place, ok := d.place(numbers[i])
		if !ok {
			return -1, false
		}
		inside = inside && place >= 0
		cell = cell*d.size() + max(place, 0)
	}
	switch {
	case inside:
		return cell, true
	case s.other:
		return s.cells() - 1, true
	}
	return -1, true
}

func finite(x float64) bool { return math.Abs(x) <= math.MaxFloat64 }
