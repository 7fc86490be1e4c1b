package operators

import "oriel/mechanisms/noise"

// Vector is a vector of the stream's dimension. Values of a dense one stand at their own positions; a sparse one names
// the position of each value, in [0, dimension), and everything it leaves out is zero. Equal indices add up.
type Vector struct {
	Indices []int32 // nil means dense
	Values  []float64
}

// Event is what one record says. The loss gives the fields their meaning.
type Event struct {
	Vector Vector  // features; gradient or cost under a linear loss; price relatives under the portfolio loss
	Label  float64 // target of a regression, −1 or 1 for a class; not read by linear and portfolio
	Weight float64 // ≥ 0, multiplies the loss
}

// Record is an input record after decoding. A machine hands Identity to the noise and never reads it.
type Record struct {
	Identity noise.Identity
	Event    Event
	Null     bool // malformed, over limit, or not accepted: takes its place with the neutral element; Event is not read
}
