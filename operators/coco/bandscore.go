package coco

import (
	"slices"

	"oriel/operators"
	"oriel/schemas/event"
)

// bandScore returns the functions that compare an event with a band as a reader of decisions does: neither the label
// nor the prediction is clamped.
func (c Config) bandScore() *operators.BandScore {
	if c.Band.Level == 0 {
		return nil
	}
	rule := newBandRule(c)
	low, high := rule.ends(slices.Repeat([]float64{rule.end(rule.start)}, rule.columns()))
	b := &operators.BandScore{Level: c.Band.Level, Low: low, High: high}
	b.Within = func(x []float64, e event.Event, low, high float64) (bool, float64) {
		residual := e.Label - rule.predict(x, e)
		return low <= residual && residual <= high, high - low
	}
	if rule.sets {
		b.Within = func(x []float64, e event.Event, _, high float64) (bool, float64) {
			f, labels := rule.predict(x, e), 0.0
			for _, label := range []float64{-1, 1} {
				if wrong(float64(label*f)) <= high {
					labels++
				}
			}
			return wrong(float64(e.Label*f)) <= high, labels
		}
	}
	return b
}
