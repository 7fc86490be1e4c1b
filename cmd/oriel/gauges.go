package main

import (
	"oriel/operators"
	"oriel/pipeline"
	"oriel/pipeline/metrics"
	"oriel/schemas"
)

// shownNumbers tells the metrics what the numbers of decisions are; nil: they are none.
func shownNumbers(numbers *operators.Numbers) *metrics.Numbers {
	if numbers == nil {
		return nil
	}
	shown := &metrics.Numbers{Bounds: func(d pipeline.Decided) (low, high []float64, err error) {
		return numbers.Bounds(schemas.Decision{Point: d.Point, Extras: d.Extras})
	}}
	for _, n := range numbers.Names {
		shown.Labels = append(shown.Labels, [3]string{n.Memory, n.Statistic, n.Cell})
	}
	return shown
}
