package operators

import "oriel/schemas"

// Numbers says what the numbers of decisions are, of an operator that publishes numbers about its events and not
// something to act on: for programs that show them by name, or beside the truth.
type Numbers struct {
	Names []Named // of a decision's Point, in its order, and then of what further members say

	// Read returns each number of a decision, in the order of Names.
	Read func(d schemas.Decision) ([]Estimate, error)

	// Exact is the same operator, which allows for next to no noise: its decisions over sums without any are the truth.
	Exact Operator
}

// Estimate is a number, and an interval at 95 % around it, of the noise alone. A number that is not Shown is little
// more than noise, for example the mean of a cell without events: programs must not show its Value.
type Estimate struct {
	Value, Low, High float64
	Shown            bool
}

// Named names one number of a decision.
type Named struct {
	Statistic, Cell string
	Memory          string  // H, steps; all: since the start; step: of each step alone
	Low, High       float64 // its public range; infinite where there is none
}
