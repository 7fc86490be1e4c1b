package operators

import "oriel/schemas"

// Numbers describes the decisions of an operator that publishes statistics of its events, not actions. Programs use it
// to show the statistics by name, or beside their true values.
type Numbers struct {
	Names []Named // of a decision's Point, in its order, then of the numbers in further members

	// Read returns each number of a decision, in the order of Names.
	Read func(d schemas.Decision) ([]Estimate, error)

	// Exact is the same operator, configured for almost no noise: its decisions over sums without noise are the true
	// values.
	Exact Operator
}

// Estimate is a number with a 95 % interval, which covers the noise alone. A number that is not Shown is little more
// than noise, for example the mean of a cell without events. Programs must not show its Value.
type Estimate struct {
	Value, Low, High float64
	Shown            bool
}

// Named identifies one number of a decision.
type Named struct {
	Statistic, Cell string
	Memory          string  // H, steps; all: since the start; step: of each step alone
	Low, High       float64 // its public range; infinite if there is none
}
