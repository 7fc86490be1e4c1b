package operators

import "oriel/schemas/decision"

// Numbers describes the decisions of an operator that publishes statistics of its events, not actions. Programs use it
// to show the statistics by name, or beside their true values.
type Numbers struct {
	Names []Named // the numbers of a decision's Point, in its order, then the numbers in further members

	// Read returns each number of a decision, in the order of Names.
	Read func(d decision.Decision) ([]Estimate, error)

	// Exact is the operator configured for almost no noise. Over sums without noise, its decisions are the true values.
	Exact Operator
}

// Estimate is a number with a 95 % interval, which covers the noise alone. A number that is not Shown may consist
// mostly of noise, for example the mean of a cell without events. Programs must not display its Value.
type Estimate struct {
	Value, Low, High float64
	Shown            bool
}

// Named identifies one number of a decision.
type Named struct {
	Statistic, Cell string
	Memory          string  // H in steps; "all": the sum since the start; "step": each step separately
	Low, High       float64 // public range of the number; infinite if there is none
}
