package aggregate

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"oriel/operators/aggregate/block"
	"oriel/operators/aggregate/dimension"
	"oriel/operators/aggregate/interval"
	"oriel/operators/setting"
	"oriel/schemas/event"
)

// specification describes the numbers to publish. It is public and fixed at opening.
type specification struct {
	dimensions []dimension.Dimension
	other      bool // events outside all places have a cell of their own
	value      string
	low, high  float64 // ends of the range of values
	statistics []string
	levels     []float64   // level in (0, 1) of each statistic that is a quantile; 0 for others
	weights    block.Block // a, b and c; the bins' number m and weight w
	size       int         // number of released coordinates of a cell
	weightMax  float64     // largest weight; 0 if events have no weight
	arms       string      // the dimension whose places are compared; "" if none is
	law        interval.Law

	// prepare computes the following fields, which quantiles and reference models need.
	reading []float64         // how running counts are made of columns
	spread  float64           // standard deviation of the last running count; the unit is a column's
	limits  [][]float64       // by quantile and bin: the deviation by which the test divides, in units of a column's
	ranks   []*interval.Ranks // by statistic that is a quantile; nil for others
	// Pairs of events at the largest distance; computed once, because an audit opens many reference models.
	distant []pair
}

// prepare computes the numbers that decisions need from a valid specification.
func (s *specification) prepare() {
	s.read()
	s.distant = s.distantPairs()
}

// read computes the fields that quantiles need.
func (s *specification) read() {
	s.reading = s.weights.Reading()
	s.spread, s.limits = math.Sqrt(block.Energy(s.reading)), make([][]float64, len(s.levels))
	s.ranks = make([]*interval.Ranks, len(s.levels))
	for i, level := range s.levels {
		if level > 0 {
			s.limits[i] = make([]float64, s.weights.Bins)
			block.Deviations(s.limits[i], s.reading, level)
			s.ranks[i] = interval.NewRanks(s.reading, level)
		}
	}
}

// cells returns the number of cells, including the cell of all other events.
func (s *specification) cells() int {
	n := s.product()
	if s.other {
		n++
	}
	return n
}

// product returns the number of cells without the cell of all other events: the product of the dimensions' sizes.
func (s *specification) product() int {
	n := 1
	for _, d := range s.dimensions {
		n *= d.Size()
	}
	return n
}

// width returns the number of released coordinates of a cell.
func (s *specification) width() int { return s.size }

// numbers returns how many numbers a view publishes.
func (s *specification) numbers() int { return len(s.statistics) * s.cells() }

// hot returns the contribution's quantiser.
func (s *specification) hot() block.OneHot {
	weight := s.weightMax
	switch weight {
	case 0:
		weight = 1 // events have no weights: all count as 1
	case 1:
		weight = 1 + 0x1p-52 // OneHot takes exactly 1 to mean that events have no weights
	}
	return block.OneHot{Block: s.weights, Cells: s.cells(), Weight: weight}
}

// middle and half return the middle and half the width of the range of values.
func (s *specification) middle() float64 { return float64((s.low + s.high) / 2) }
func (s *specification) half() float64   { return float64((s.high - s.low) / 2) }

// labels returns the names of the cells, in the order of cells.
func (s *specification) labels() []string {
	names := []string{""}
	for _, d := range s.dimensions {
		var longer []string
		for _, name := range names {
			for place := range d.Size() {
				next := d.Label(place)
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

// canonical returns the specification as params hold it.
func (s *specification) canonical() string {
	lines := []string{
		"other=" + strconv.FormatBool(s.other),
		"value=" + s.value + "=" + setting.Decimal(s.low) + ":" + setting.Decimal(s.high),
		"statistics=" + strings.Join(s.statistics, ","),
		"weights=" + setting.Decimal(s.weights.Count) + "," + setting.Decimal(s.weights.Mean) + "," +
			setting.Decimal(s.weights.Square),
		"weight_max=" + setting.Decimal(s.weightMax),
		"bins=" + strconv.Itoa(s.weights.Bins) + "," + setting.Decimal(s.weights.Quantile),
		"arms=" + s.arms,
	}
	for _, d := range s.dimensions {
		lines = append(lines, "dimension="+d.Canonical())
	}
	return strings.Join(lines, "\n") + "\n"
}

// parseValue parses name=low:high.
func parseValue(text string) (name string, low, high float64, ok bool) {
	name, rest, found := strings.Cut(text, "=")
	from, to, ranged := strings.Cut(rest, ":")
	if name = strings.TrimSpace(name); !found || !ranged || !dimension.IsName(name) {
		return name, 0, 0, false
	}
	r, ok := setting.ParseRange(from, to)
	return name, r.Low, r.High, ok
}

// cellOf returns the cell of an event. It returns false for an event of no cell, and for one that no decoder produces.
func (s *specification) cellOf(e event.Event) (cell int, has bool) {
	want := len(s.dimensions)
	if s.value != "" {
		want++
	}
	if len(e.Numbers) != want {
		return 0, false
	}
	cell, ok := s.cell(e.Numbers)
	return cell, ok && cell >= 0
}

// cell returns the cell of an event's numbers, or −1 for none; ok is false for numbers that no decoder produces.
func (s *specification) cell(numbers []float64) (cell int, ok bool) {
	inside := true
	for i, d := range s.dimensions {
		place, ok := d.Place(numbers[i])
		if !ok {
			return -1, false
		}
		inside = inside && place >= 0
		cell = cell*d.Size() + max(place, 0)
	}
	switch {
	case inside:
		return cell, true
	case s.other:
		return s.cells() - 1, true
	}
	return -1, true
}

// String describes the contribution in words.
func (s *specification) String() string {
	var parts []string
	if s.weights.Count > 0 {
		parts = append(parts, setting.Decimal(s.weights.Count))
	}
	if s.weights.Mean > 0 {
		parts = append(parts, setting.Decimal(s.weights.Mean)+"·x")
	}
	if s.weights.Square > 0 {
		parts = append(parts, setting.Decimal(s.weights.Square)+"·(x²−½)")
	}
	if s.weights.Bins > 0 {
		column := "·column of one of "
		if s.weights.Histogram {
			column = "·one of "
		}
		parts = append(parts, setting.Decimal(s.weights.Quantile)+column+strconv.Itoa(s.weights.Bins)+" bins")
	}
	text := "one of " + strconv.Itoa(s.cells()) + " cells, with (" + strings.Join(parts, ", ") + ")"
	if s.weights.Mean > 0 {
		text += ", x in [−1, 1]"
	}
	return text
}

func finite(x float64) bool { return math.Abs(x) <= math.MaxFloat64 }

// These are the statistics. The name of a quantile is p and a percentage, for example p50 and p99.9.
const (
	count    = "count"
	sum      = "sum"
	mean     = "mean"
	variance = "variance"
	persons  = "persons" // users, each once in a cell in a period
)

var statistics = []string{count, sum, mean, variance, persons}

// counts reports whether a statistic is a count: of events, or of persons.
func counts(statistic string) bool { return statistic == count || statistic == persons }

// persons reports whether persons are counted, and not events.
func (s *specification) persons() bool { return slices.Contains(s.statistics, persons) }

// minWeight is the smallest weight of a column. It keeps every coordinate far above a lattice unit.
const minWeight = 1e-3

// percentOf parses the name of a quantile; it returns 0 for any other name.
func percentOf(name string) float64 {
	digits, found := strings.CutPrefix(name, "p")
	percent, err := setting.ParseNumber(digits)
	if !found || err != nil || strings.Trim(digits, "0123456789.") != "" || !(percent >= 0.01 && percent <= 99.99) {
		return 0
	}
	return percent
}

// parseStatistic parses a name, or name*weight.
func parseStatistic(text string) (name string, weight float64, ok bool) {
	name, factor, weighted := strings.Cut(text, "*")
	name, weight = strings.TrimSpace(name), 1
	if weighted {
		var err error
		if weight, err = setting.ParseNumber(factor); err != nil {
			return name, weight, false
		}
	}
	percent := percentOf(name)
	if percent > 0 {
		name = "p" + setting.Decimal(percent)
	}
	ok = percent > 0 || slices.Contains(statistics, name)
	return name, weight, ok && weight >= minWeight && weight <= 1/minWeight
}

// weigh sets the weights of columns: 1, or the weight that a statistic which needs the column names. It returns a
// statistic whose weight conflicts with another's. The count has no column where only quantiles are asked for, because
// their last running count is a count.
func (s *specification) weigh(names []string, weights []float64, bins int) (conflict string) {
	s.statistics, s.levels, s.law = names, make([]float64, len(names)), interval.Normal
	for i, name := range names {
		s.levels[i] = percentOf(name) / 100
		column := &s.weights.Mean
		switch {
		case s.levels[i] > 0:
			column, s.weights.Bins = &s.weights.Quantile, bins
		case counts(name):
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
	s.size = s.weights.Size()
	return conflict
}
