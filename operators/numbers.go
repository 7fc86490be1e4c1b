package operators

import "oriel/schemas"

// Numbers says what the numbers of decisions are, of an operator that publishes numbers about its events and not
// something to act on: for programs that show them by name, or beside the truth.
type Numbers struct {
	Names []Named // of a decision's Point, in its order

	// Bounds returns the ends of an interval at 95 % around each number, of the noise alone, from what a decision says.
	Bounds func(d schemas.Decision) (low, high []float64, err error)

	// Exact is the same operator, which allows for no noise: over sums that have none, its decisions are the truth.
	Exact Configured
}

// Named names one number of a decision.
type Named struct {
	Statistic, Cell string
	Memory          string  // H, steps; all: since the start; step: of each step alone
	Low, High       float64 // its public range; infinite where there is none
}
