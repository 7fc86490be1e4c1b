package operators

import "oriel/schemas/event"

// Prediction identifies the property of an event's label that the inner product ⟨a, x⟩ of its features and a decision
// predicts.
type Prediction uint8

// These are the kinds of predictions.
const (
	Nothing  Prediction = iota // ⟨a, x⟩ predicts no property of the label; only the loss is scored
	LogOdds                    // log-odds of label 1 against label −1
	Side                       // its sign predicts the label
	Mean                       // mean of the label
	Quantile                   // quantile of the label, of level Score.Level
	Growth                     // no label is predicted: the loss is minus the growth of the logarithm of wealth
)

// Labels reports whether ⟨a, x⟩ predicts a property of the label.
func (p Prediction) Labels() bool { return p != Nothing && p != Growth }

// Score describes how a decision is scored on later events. Programs that compare settings use it; the service does
// not.
type Score struct {
	Predicts Prediction
	Level    float64   // level of Quantile, in (0, 1)
	Start    []float64 // the public decision that holds before the first one is published
	Offset   float64   // constant that Predict and Loss add to ⟨a, x⟩

	// Low and High are the least and the greatest value of Predict. If both are 0, it is unbounded.
	Low, High float64

	// Noise returns the standard deviation of the privacy noise in each coordinate of a step's decision, before the
	// projection to the decision's set, which cannot increase the noise. release is the standard deviation in a
	// coordinate of the step's sums; batch is the number of events in a step. Noise is nil if decisions publish this
	// figure or if it is unknown.
	Noise func(release float64, batch, step uint64) float64

	// Exact is the operator configured for sums without noise, to show how well it learns without privacy. It is nil if
	// the operator is configured equally for all noise.
	Exact Operator

	Band *BandScore // nil if decisions have no band

	// Loss returns the loss of one event times its weight, or NaN if the loss is not defined.
	Loss func(x []float64, e event.Event) float64
	// Predict returns ⟨a, x⟩, or NaN if the event has another dimension. It is not called if Predicts is Nothing or
	// Growth.
	Predict func(x []float64, e event.Event) float64
}

// BandScore describes how an event is compared with the band, or set of labels, that a decision publishes as band_low
// and band_high.
type BandScore struct {
	Level     float64 // target share of events within the band
	Low, High float64 // the band before the first decision; public

	// Within reports whether the event's label is in the band, and returns the band's width in units of the label, or
	// for a set the number of its labels.
	Within func(x []float64, e event.Event, low, high float64) (within bool, width float64)
}
