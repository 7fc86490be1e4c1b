package operators

// Precision says how exact decisions are that are numbers about the events of public cells: the noise of each is a
// function of σ, the standard deviation of a released coordinate, loss units.
type Precision struct {
	Cells      int     // an event is in one at most
	Events     string  // what a count counts, for people
	Value      string  // the column that the other statistics are of, for people; empty: there are counts alone
	Low, High  float64 // its public range
	Count      float64 // a > 0: the noise of a cell's count is σ/a
	Statistics []Statistic
	Views      []View
	Increments bool // increments of steps are published, too
}

// View is sums that a decision reads its numbers from.
type View struct {
	Name   string
	Memory uint64 // under which increments are read, steps; 0: sums are those of the stream
}

// Statistic is a number of each cell.
type Statistic struct {
	Name string
	Unit string // for people; empty: events of a count, else that of the values

	// Ratio says that the number is one over a cell's events: its noise falls with them, and depends on what it is
	// itself. Over no more than Shown·σ events only its interval tells something.
	Ratio bool
	Shown float64

	// Deviation returns the standard deviation of its noise, in its own unit; of a ratio to the first order.
	Deviation func(sigma float64, in Cell) float64
}

// Cell is what the noise of a ratio depends on. Of a count or a sum it is not read.
type Cell struct {
	Events float64 // > 0
	Mean   float64 // of its values: −1 is the lower end of their range, 0 the middle, 1 the upper end
}

// Statistic returns the one of a name, and false if there is none.
func (n *Precision) Statistic(name string) (Statistic, bool) {
	for _, s := range n.Statistics {
		if s.Name == name {
			return s, true
		}
	}
	return Statistic{}, false
}
