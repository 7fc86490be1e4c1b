package mechanisms

import (
	"oriel/mechanisms/blt"
	"oriel/mechanisms/dp"
)

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
	Law    Law
	Paper  bool // the constants that the paper prints, with the sensitivity that it prints
	Tree   bool // noise at the nodes of a tree: its windows are powers of two
	Filter bool // noise of steps through a fitted filter: takes an age weight and poles, or a memory
	Once   bool // each step's own sum is released once, and no prefix sum: there is no window
	Draws  bool // no sum is released, and elements are drawn by sums: Stream.Draw

	MaxWindow uint64 // W at most, steps; 0 for Once
}

// FactsOf returns the facts of a mechanism by name, and false when there is none of that name.
func FactsOf(name string) (Facts, bool) {
	f, known := familyOf(name)
	return f.Facts, known
}

// Pure reports whether δ = 0 is proved, so that no δ is needed.
func (f Facts) Pure() bool { return f.Law == Gamma || f.Law == Laplace }

// structure returns where noise enters, with a memory or with none.
func (f Facts) structure(memory uint64) structure {
	switch {
	case f.Filter && memory > 0:
		return forgetting{}
	case f.Draws:
		return drawing{}
	case f.Tree:
		return tree{}
	case f.Filter:
		return filter{}
	}
	return single{}
}

func treeOf(law Law) Facts        { return Facts{Law: law, Tree: true, MaxWindow: maxWindow} }
func treeAsPrinted(law Law) Facts { f := treeOf(law); f.Paper = true; return f }
func filterOf(law Law) Facts      { return Facts{Law: law, Filter: true, MaxWindow: blt.MaxWindow} }
func onceOf(law Law) Facts        { return Facts{Law: law, Once: true} }

// AgainstNull reports whether neighbours differ by an event and a null event: at event level under zero-out. Else an
// event is exchanged for any other or for a null event: at user level under both adjacencies.
func (c Config) AgainstNull() bool { return c.Adjacency == dp.ZeroOut && c.Separation == 0 }
