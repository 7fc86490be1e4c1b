package operators

// Precision describes the accuracy of decisions that are statistics of events in public cells. The noise of each
// statistic is a function of σ, the standard deviation of a released coordinate in loss units.
type Precision struct {
	Cells      int     // an event is in at most one
	Events     string  // the unit of a count, for people
	Value      string  // the column that the other statistics are of, for people; empty: there are counts alone
	Low, High  float64 // its public range
	Count      float64 // a > 0: the noise of a cell's count is σ/a
	Statistics []Statistic
	Views      []View
	Increments bool // increments of steps are published, too
}

// View is a set of sums from which a decision computes its statistics.
type View struct {
	Name   string
	Memory uint64 // memory under which increments are summed, steps; 0: the stream's own sums
}

// Statistic is a number that is published for each cell.
type Statistic struct {
	Name string
	Unit string // for people; empty: events for a count, else the unit of the values

	// Ratio reports that the number is divided by the number of events in the cell. Its noise falls with that number,
	// and depends on the ratio's own value. With at most Shown·σ events only its interval is informative.
	Ratio bool
	Shown float64

	// Deviation returns the standard deviation of the statistic's noise in the statistic's unit, for a ratio to first
	// order.
	Deviation func(sigma float64, in Cell) float64
}

// Cell holds the inputs that determine the noise of a ratio. It is not read for a count or a sum.
type Cell struct {
	Events float64 // > 0
	Mean   float64 // of its values: −1 is the lower end of their range, 0 the middle, 1 the upper end
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
