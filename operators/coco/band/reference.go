package band

import (
	"oriel/operators/elementary"
	"oriel/operators/loss"
	"oriel/schemas/decision"
	"oriel/schemas/event"
)

// Reference is the band of a reference model: the last published band, with which it compares events.
type Reference struct {
	Settings Settings
	Loss     loss.Loss
	Reach    float64 // largest absolute value of a prediction

	low, high float64
}

// Begin sets the band that is public before the first record.
func (b *Reference) Begin() {
	e := elementary.Exp(1.8)
	half := float64((e - 1/e) / 40 * (b.Settings.Labels.High - b.Settings.Labels.Low))
	if b.low, b.high = -half, half; setsOf(b.Loss) {
		b.low, b.high = 0, 0.75
	}
}

// Observe takes the band of a decision.
func (b *Reference) Observe(m Members, values []decision.ExtraValue) {
	b.low, b.high = m.low.Of(values), m.high.Of(values)
}

// Contribution writes the marks of an event at the decision x.
func (b *Reference) Contribution(dst, x []float64, e event.Event) {
	clear(dst)
	if len(dst) == 0 {
		return
	}
	prediction := loss.Predict(x, e)
	if q, ok := b.Loss.(loss.Quantile); ok {
		prediction = q.Predict(x, e)
	}
	prediction = max(-b.Reach, min(b.Reach, prediction))
	if len(dst) == 1 {
		odds := elementary.Exp(float64(prediction * e.Label))
		if 1/(1+odds) > b.high {
			dst[0] = 1
		}
		return
	}
	label := max(b.Settings.Labels.Low, min(b.Settings.Labels.High, e.Label))
	switch {
	case label-prediction > b.high:
		dst[0] = 1
	case label-prediction < b.low, b.low == b.high:
		dst[1] = 1
	}
}
