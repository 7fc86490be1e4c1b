package mechanisms

// Law is the law of a mechanism's noise vectors. The zero value is none.
type Law uint8

const (
	Gaussian Law = iota + 1 // Gaussian: independent normal coordinates; µ-GDP, (ε,δ)
	Gamma                   // Gamma: density ∝ e^(−‖x‖₂/θ); pure ε
	Laplace                 // Laplace: independent Laplace coordinates; pure ε, in the ℓ1 norm
	Gumbel                  // Gumbel: of scores, the largest of which is drawn; nothing else is released
)

// Facts are what a mechanism's name says. Exactly one of Tree, Filter, Once and Draws holds; the zero value is of no
// mechanism.
type Facts struct {
	Law     Law
	Paper   bool // the constants that the paper prints, with the sensitivity that it prints
	Tree    bool // noise at the nodes of a tree: its windows are powers of two
	Filter  bool // noise of steps through a fitted filter: takes an age weight and poles, or a decay
	PerStep bool // each step's own sum is released once, and no prefix sum: there is no window
	Draws   bool // no sum is released, and elements are drawn by sums: Stream.Draw

	Users bool // takes units of several events

	MaxWindow uint64 // W at most, steps; 0 for Once
}

// FactsOf returns the facts of a mechanism by name, and false when there is none of that name.
func FactsOf(name string) (Facts, bool) {
	f, known := definitionOf(name)
	return f.Facts, known
}

// Pure reports whether δ = 0 is proved, so that no δ is needed.
func (f Facts) Pure() bool { return f.Law == Gamma || f.Law == Laplace }
