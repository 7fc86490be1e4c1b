package service

import (
	"math"

	"oriel/operators"
	"oriel/pipeline/metrics"
	"oriel/pipeline/notice"
	"oriel/schemas/decision"
)

// shownNumbers returns the description of the numbers in decisions that metrics need. It is nil if decisions contain no
// numbers.
func shownNumbers(numbers *operators.Numbers) *metrics.Numbers {
	if numbers == nil {
		return nil
	}
	shown := &metrics.Numbers{Read: func(d notice.Decided) (values, low, high []float64, err error) {
		all, err := numbers.Read(decision.Decision{Point: d.Point, Extras: d.Extras})
		for _, x := range all {
			if !x.Shown {
				x.Value, x.Low, x.High = math.NaN(), math.NaN(), math.NaN()
			}
			values, low, high = append(values, x.Value), append(low, x.Low), append(high, x.High)
		}
		return values, low, high, err
	}}
	for _, n := range numbers.Names {
		shown.Labels = append(shown.Labels, [3]string{n.Memory, n.Statistic, n.Cell})
	}
	return shown
}
