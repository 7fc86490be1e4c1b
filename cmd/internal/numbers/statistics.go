package numbers

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"oriel/operators/aggregate/interval"
)

// The statistics, by their names in ORIEL_STATISTICS. The name of a quantile is p and a percentage.
const (
	count    = "count"
	persons  = "persons"
	sum      = "sum"
	mean     = "mean"
	variance = "variance"
	squares  = "squares" // name of the column of squares
	below    = "below="  // prefix of the columns of running counts of bins
)

// valueRange returns the middle of the range of values, and half of its length.
func (n *Names) valueRange() (middle, half float64) {
	if n.Value == nil {
		return 0, 1
	}
	return (n.Value.Low + n.Value.High) / 2, (n.Value.High - n.Value.Low) / 2
}

// value converts x̃ to a value.
func (n *Names) value(x float64) float64 { return interval.Value(x, n.Value.Low, n.Value.High) }

// Number is a statistic with its 95 % interval for the noise of privacy alone. A number that is unknown is NaN.
type Number struct {
	Value, Low, High float64
	Deviation        float64 // deviation of the noise of a count or a sum; NaN for other statistics
}

// statistic computes a number from the sums of columns and the variances of their noise.
type statistic struct {
	name    string
	of      *Names
	count   int // indices of columns
	sum     int
	squares int
	bins    int // index of the first column of bins
	ranks   *interval.Ranks
}

// statistic returns the statistic with this name.
func (n *Names) statistic(name string, columns []string) (statistic, error) {
	s := statistic{name: name, of: n, count: slices.Index(columns, count), bins: -1}
	if name == persons {
		s.count = slices.Index(columns, persons)
	}
	s.sum, s.squares = slices.Index(columns, sum), slices.Index(columns, squares)
	s.bins = slices.IndexFunc(columns, func(c string) bool { return strings.HasPrefix(c, below) })
	missing := ""
	switch name {
	case count, persons:
		if s.count < 0 && s.bins < 0 {
			missing = name
		}
	case sum, mean, variance:
		if s.count < 0 || s.sum < 0 || n.Value == nil {
			missing = sum
		} else if name == variance && s.squares < 0 {
			missing = squares
		}
	default:
		level, err := strconv.ParseFloat(strings.TrimPrefix(name, "p"), 64)
		if err != nil || !strings.HasPrefix(name, "p") || !(level >= 0.01 && level <= 99.99) {
			return s, fmt.Errorf("%q is no statistic: count, persons, sum, mean, variance, or p and a percentage", name)
		}
		if s.bins < 0 || n.Value == nil {
			missing = "bins"
			break
		}
		// Running count k is Σ_j factor_{k−j}·column_j, of columns whose noise has the deviation of the first one.
		factor, before := make([]float64, len(columns)-s.bins), 0.0
		for k, x := range n.Deviations[s.bins:] {
			factor[k] = math.Sqrt(max(0, x*x-before*before)) / n.Deviations[s.bins]
			before = x
		}
		s.ranks = interval.NewRanks(factor, level/100)
	}
	if missing != "" {
		return s, fmt.Errorf("%s: decisions of this deployment have no column %s", name, missing)
	}
	return s, nil
}

// at computes the statistic from sums and variances by column. The noise is normal if there is no spread.
func (s *statistic) at(sums, variances []float64, spread *spread) Number {
	noisy := func(column int) interval.Noisy {
		return interval.Noisy{Value: sums[column], Deviation: math.Sqrt(variances[column])}
	}
	middle, half := s.of.valueRange()
	law, z := interval.Normal, interval.Z95 // z of any columns
	if spread != nil {
		law, z = interval.Laplace, spread.column
	}
	switch s.name {
	case count, persons:
		column := s.count
		if column < 0 {
			column = len(sums) - 1 // the last running count is the count of all events
		}
		x := noisy(column)
		if spread != nil {
			return Number{x.Value, x.Value - spread.above, x.Value + spread.below, x.Deviation}
		}
		return around(x.Value, x.Deviation)
	case sum:
		n, x := noisy(s.count), noisy(s.sum)
		value, deviation := middle*n.Value+half*x.Value, math.Hypot(middle*n.Deviation, half*x.Deviation)
		if spread != nil {
			return Number{value, value - spread.sum, value + spread.sum, deviation}
		}
		return around(value, deviation)
	case mean:
		n, x := noisy(s.count), noisy(s.sum)
		if spread != nil {
			z = spread.mean
		}
		return known(n.Shown(), x.Value/n.Value, interval.Mean(x, n, z), -1, 1).each(s.of.value)
	case variance:
		n, x, y := noisy(s.count), noisy(s.sum), noisy(s.squares)
		m := x.Value / n.Value
		value := max(0, min(1, y.Value/n.Value+0.5-m*m))
		scaled := func(x float64) float64 { return half * half * x }
		return known(n.Shown(), value, point{n, x, y}.variance(law, z), 0, 1).each(scaled)
	}
	scratch := make([]float64, s.ranks.Scratch())
	value, ends := s.ranks.Quantile(sums[s.bins:], math.Sqrt(variances[s.bins]), z, scratch)
	return known(noisy(len(sums)-1).Shown(), value, ends, -1, 1).each(s.of.value)
}

// around returns a number with the interval that follows from the deviation of the number's noise.
func around(x, deviation float64) Number {
	return Number{x, x - interval.Z95*deviation, x + interval.Z95*deviation, deviation}
}

// known returns a ratio over a count. The ratio is unknown if the count is hardly more than noise (shown is false), or
// if the interval is the whole range.
func known(shown bool, value float64, ends interval.Interval, low, high float64) Number {
	n := Number{value, ends.Low, ends.High, math.NaN()}
	if !shown {
		n.Value = math.NaN()
		if ends.Low <= low && ends.High >= high {
			n.Low, n.High = math.NaN(), math.NaN()
		}
	}
	return n
}

// each converts a number, the ends of its interval and its deviation.
func (n Number) each(convert func(x float64) float64) Number {
	return Number{convert(n.Value), convert(n.Low), convert(n.High), convert(n.Deviation)}
}

// settled returns x in the form that every format can hold: 0 in place of −0, and unknown where sums overflow.
func settled(x float64) float64 {
	if math.IsInf(x, 0) {
		return math.NaN()
	}
	return x + 0
}
