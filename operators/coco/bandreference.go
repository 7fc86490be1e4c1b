package coco

import (
	"oriel/operators/elementary"
	"oriel/operators/loss"
	"oriel/schemas/event"
)

// referenceBand is the band of a reference model: the last published band, with which it compares events.
type referenceBand struct{ low, high float64 }

func (b *referenceBand) begin(c Config) {
	e := elementary.Exp(1.8)
	half := float64((e - 1/e) / 40 * (c.Band.Labels.High - c.Band.Labels.Low))
	if b.low, b.high = -half, half; c.predictsSets() {
		b.low, b.high = 0, 0.75
	}
}

func (b *referenceBand) contribution(dst []float64, c Config, x []float64, e event.Event) {
	clear(dst)
	if len(dst) == 0 {
		return
	}
	reach := float64(c.Set.MaxNorm() * c.FeaturesMax)
	prediction := loss.Predict(x, e)
	if q, ok := c.Loss.(loss.Quantile); ok {
		prediction = q.Predict(x, e)
	}
	prediction = max(-reach, min(reach, prediction))
	if len(dst) == 1 {
		odds := elementary.Exp(float64(prediction * e.Label))
		if 1/(1+odds) > b.high {
			dst[0] = 1
		}
		return
	}
	label := max(c.Band.Labels.Low, min(c.Band.Labels.High, e.Label))
	switch {
	case label-prediction > b.high:
		dst[0] = 1
	case label-prediction < b.low, b.low == b.high:
		dst[1] = 1
	}
}
