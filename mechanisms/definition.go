package mechanisms

import (
	"slices"
	"strings"

	"oriel/mechanisms/blt"
	"oriel/mechanisms/dp"
	"oriel/mechanisms/noise"
	"oriel/mechanisms/protection"
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
	Law     Law
	Paper   bool // the noise scale is Config.Printed
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

// definition is a mechanism by name.
type definition struct {
	name string
	Facts
	scopes []acceptedScope
}

// noiseStructure is where noise enters: at the nodes of a tree, before a filter, or in single steps.
type noiseStructure interface {
	// problems checks the fields of a configuration that have another meaning for each structure.
	problems(c Config, bad func(format string, args ...any))
	// shape sets levels or filter of a plan, which its components have in common, and returns the bits of Λ.
	shape(p *Calibration, c Config) (bits int, err error)
	// calibrate sets the scale of a component, and returns its error bound.
	calibrate(x *calibratedComponent, p Calibration, c Config, kind definition) (bound float64, err error)
	// check checks levels and filter of a plan by themselves, matches against a valid configuration.
	check(p Calibration) error
	matches(p Calibration, c Config) error
	// loss returns µ or ε of a component in one window, rounded up, and the curve of Gaussian noise that has a window.
	loss(x calibratedComponent, p Calibration, c Config, kind definition) (float64, dp.Curve)
	// sums returns what makes mechanisms of a component before their first step, which share the sampler.
	sums(x calibratedComponent, p Calibration, c Config, sampler noise.Sampler) (func() Sum, error)
}

var definitions = []definition{
	{"tree-gaussian", Facts{Law: Gaussian, Tree: true, Users: true, MaxWindow: maxWindow}, onTree},
	{"tree-gamma", Facts{Law: Gamma, Tree: true, Users: true, MaxWindow: maxWindow}, onTree},
	{"tree-laplace", Facts{Law: Laplace, Tree: true, Users: true, MaxWindow: maxWindow}, onTree},
	{"tree-gaussian-paper", Facts{Law: Gaussian, Tree: true, Paper: true, MaxWindow: maxWindow}, onTree},
	{"tree-gamma-paper", Facts{Law: Gamma, Tree: true, Paper: true, MaxWindow: maxWindow}, onTree},
	{"blt", Facts{Law: Gaussian, Filter: true, Users: true, MaxWindow: blt.MaxWindow}, onFilter},
	{"once-gaussian", Facts{Law: Gaussian, PerStep: true}, onSteps},
	{"once-gamma", Facts{Law: Gamma, PerStep: true}, onSteps},
	{ExponentialMechanism, Facts{Law: Gumbel, Draws: true, MaxWindow: maxDrawn}, onDraws},
}

// The scopes that each place of noise takes.
var (
	onTree = []acceptedScope{
		of(func(w protection.Window) noiseStructure { return tree{w.Steps} }),
		of(func(l protection.Lifetime) noiseStructure { return tree{l.Within} }),
	}
	onFilter = []acceptedScope{
		of(func(w protection.Window) noiseStructure { return filter{w.Steps} }),
		of(func(l protection.Lifetime) noiseStructure { return filter{l.Within} }),
		of(func(d protection.Decay) noiseStructure { return decaying{d.Steps} }),
	}
	onSteps = []acceptedScope{of(func(protection.PerStep) noiseStructure { return perStep{} })}
	onDraws = []acceptedScope{of(func(l protection.Lifetime) noiseStructure { return exponential{l} })}
)

// acceptedScope is a scope that a mechanism takes, and where noise enters under it.
type acceptedScope struct {
	name string
	open func(protection.Scope) (noiseStructure, bool)
}

// of returns the row of scopes of one type.
func of[S protection.Scope](open func(S) noiseStructure) acceptedScope {
	var zero S
	return acceptedScope{zero.Name(), func(s protection.Scope) (noiseStructure, bool) {
		scope, is := s.(S)
		if !is {
			return nil, false
		}
		return open(scope), true
	}}
}

// structure returns where noise enters under a scope, and false where the mechanism does not take it.
func (f definition) structure(s protection.Scope) (noiseStructure, bool) {
	for _, t := range f.scopes {
		if structure, is := t.open(s); is {
			return structure, true
		}
	}
	return nil, false
}

// under is structure of a valid configuration, whose scope the mechanism takes.
func (f definition) under(s protection.Scope) noiseStructure {
	structure, is := f.structure(s)
	if !is {
		panic("BUG: mechanisms: " + f.name + " under a scope that it does not take")
	}
	return structure
}

// takes refuses terms that the mechanism has no account of.
func (f definition) takes(t protection.Terms, bad func(format string, args ...any)) {
	if _, is := f.structure(t.Scope); !is {
		var names []string
		for _, t := range f.scopes {
			names = append(names, t.name)
		}
		bad("scope %s (%s): %s takes %s", t.Scope.Name(), t.Scope.Words().Length, f.name, strings.Join(names, " or "))
	}
	if _, several := t.Unit.EventSeparation(); several && !f.Users {
		bad("unit %s: %s has the unit event alone", t.Unit.Name(), f.name)
	}
}

// Names returns the names of all mechanisms that release sums and calibrate their own noise: all but
// ExponentialMechanism and those whose scale is Config.Printed.
func Names() []string {
	var names []string
	for _, f := range definitions {
		if !f.Draws && !f.Paper {
			names = append(names, f.name)
		}
	}
	return names
}

func definitionOf(name string) (definition, bool) {
	i := slices.IndexFunc(definitions, func(f definition) bool { return f.name == name })
	if i < 0 {
		return definition{}, false
	}
	return definitions[i], true
}
