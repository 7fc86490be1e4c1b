package operators

import "oriel/schemas"

// Prediction says what the inner product ⟨a, x⟩ of an event's features and a decision predicts of its label.
type Prediction uint8

// The predictions.
const (
	Nothing  Prediction = iota // the loss alone counts
	LogOdds                    // of label 1 against −1
	Side                       // its sign is the label
	Mean                       // of the label
	Quantile                   // of the label, at Score.Level
	Growth                     // nothing: the loss is minus the growth of the logarithm of wealth
)

// Labels reports whether ⟨a, x⟩ predicts something of a label.
func (p Prediction) Labels() bool { return p != Nothing && p != Growth }

// Score says what a decision is worth on events that come after it, for programs that try settings. The service never
// asks.
type Score struct {
	Predicts Prediction
	Level    float64   // of Quantile, in (0, 1)
	Start    []float64 // the decision before the first one; public
	Offset   float64   // what Predict and Loss add to ⟨a, x⟩ themselves

	// Low and High are the least and the most that Predict says; both 0: anything.
	Low, High float64

	// Noise is the standard deviation of privacy's noise in each coordinate of the decision of a step, before the decision
	// is brought into its set, which moves no two points apart. release is that of a coordinate of the step's sums, and a
	// step has batch events. nil: decisions publish it, or it is not known.
	Noise func(release float64, batch, step uint64) float64

	// Exact is the same operator, which allows for no noise: what is learned without privacy. nil: any noise is the same
	// to it.
	Exact Operator

	Band *BandScore // nil: decisions have no band

	// Loss is that of one event, times its weight; NaN where it is not defined.
	Loss func(x []float64, e schemas.Event) float64
	// Predict is ⟨a, x⟩, NaN where the event has another dimension; not read where Predicts is Nothing or Growth.
	Predict func(x []float64, e schemas.Event) float64
}

// BandScore says how an event is held against the band, or set of labels, that a decision has published as band_low and
// band_high.
type BandScore struct {
	Level     float64 // share of events that is to be within
	Low, High float64 // before the first decision; public

	// Within reports whether an event's label is within, and how wide the band is: in units of labels, or labels of a set.
	Within func(x []float64, e schemas.Event, low, high float64) (within bool, width float64)
}
