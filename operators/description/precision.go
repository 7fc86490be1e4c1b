package description

// Precision describes the accuracy of decisions that are statistics of events in public cells. The noise of each
// statistic is a function of σ, the standard deviation of a released coordinate in loss units.
type Precision struct {
	Cells      int                         // number of cells; an event is in at most one
	Events     string                      // unit of a count, in words
	Value      string                      // name of the value of the other statistics; empty if there are only counts
	Low, High  float64                     // public range of the values
	Count      func(sigma float64) float64 // standard deviation of the noise of a cell's count
	Quantile   float64                     // within how many standard deviations a number's noise is in 95 % of cases
	Statistics []Statistic
	Views      []View
	Increments bool                      // decisions also publish increments of steps
	MostSteps  uint64                    // largest number of steps whose numbers add up; 0: any
	Draws      func(sigma float64) Draws // the discrete noise of a step that is released alone; nil: the noise is normal
}

// Draws is Laplace noise of a step: Number draws in a count, and one in a sum of values that are mapped to [−1, 1].
type Draws struct {
	Number       float64
	Count, Value float64 // standard deviations of a draw
	Fractions    bool    // draws of counts are continuous; otherwise they are whole numbers
}

// View is a set of sums from which a decision computes its statistics.
type View struct {
	Name   string
	Memory uint64 // memory of the sums, in steps; 0: the stream's own sums
	Steps  uint64 // number of steps that readers add up; 0: one decision
}

// Statistic is a number that is published for each cell.
type Statistic struct {
	Name string
	Unit string // unit in words; empty: events for a count, otherwise the unit of the values

	// Ratio reports that the number is divided by the number of events in the cell. Its noise falls with that number,
	// and depends on the ratio's own value. If a cell has at most Shown·σ events, decisions do not show the number, and
	// only its interval is informative.
	Ratio bool
	Shown float64

	// Deviation returns the standard deviation of the statistic's noise in the statistic's unit. For a ratio it is
	// computed to first order in the noise.
	Deviation func(sigma float64, in Cell) float64
}

// Cell holds the inputs that determine the noise of a ratio. It is not read for a count or a sum.
type Cell struct {
	Events float64 // number of events, > 0
	Mean   float64 // mean of the values: −1 is the lower end of their range, 0 the middle, 1 the upper end
}

// Statistic returns the statistic of the given name, and false if there is none.
func (n *Precision) Statistic(name string) (Statistic, bool) {
	for _, s := range n.Statistics {
		if s.Name == name {
			return s, true
		}
	}
	return Statistic{}, false
}
