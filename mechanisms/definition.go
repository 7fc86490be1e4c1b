package mechanisms

import (
	"slices"
	"strings"

	"oriel/mechanisms/blt"
	"oriel/mechanisms/dp"
	"oriel/mechanisms/noise"
	"oriel/mechanisms/protection"
)

// Law is the law of a mechanism's noise vectors. The zero value is not a law.
type Law uint8

const (
	Gaussian Law = iota + 1 // Gaussian: independent normal coordinates; proves µ-GDP and (ε,δ)
	Gamma                   // Gamma: density ∝ e^(−‖x‖₂/θ); proves pure ε
	Laplace                 // Laplace: independent Laplace coordinates, discrete for PerStep; proves pure ε by the ℓ1 norm
	Gumbel                  // Gumbel: noise added to scores, of which the largest wins; no sum is released
)

// Structure is the place where noise enters, and with it the kind of release. The zero value belongs to no mechanism.
type Structure uint8

const (
	Tree      Structure = iota + 1 // noise at tree nodes, whose windows must be powers of two
	Filter                         // the noise of steps passes a fitted filter, which has age weight and poles, or a decay
	PerStep                        // each step releases its own sum, not a prefix sum, so there is no window
	Selection                      // elements are drawn by their sums (Stream.Choose); no sum is released
)

// Facts are the properties that follow from a mechanism's name.
type Facts struct {
	Structure
	Law   Law
	Users bool // accepts protection.User; protection.UserPeriod goes with PerStep alone

	MaxWindow uint64 // largest W, steps; 0 for PerStep
}

// FactsOf returns the facts of the named mechanism, and false if there is no such mechanism.
func FactsOf(name string) (Facts, bool) {
	f, known := definitionOf(name)
	return f.Facts, known
}

// Pure reports whether the mechanism proves δ = 0, so that no δ is needed.
func (f Facts) Pure() bool { return f.Law == Gamma || f.Law == Laplace }

// ReleasesSums reports whether the mechanism releases sums. Otherwise it releases only draws by them.
func (f Facts) ReleasesSums() bool { return f.Structure != Selection }

// EachStep reports whether each step releases its own sum, so that there is no window.
func (f Facts) EachStep() bool { return f.Structure == PerStep }

// Filters reports whether the noise of steps passes a fitted filter, which has age weight and poles, or a decay.
func (f Facts) Filters() bool { return f.Structure == Filter }

// AtNodes reports whether noise is at the nodes of a tree, so that windows must be powers of two.
func (f Facts) AtNodes() bool { return f.Structure == Tree }

// Normal reports whether noise is normal, so that the mechanism proves µ-GDP and needs a δ.
func (f Facts) Normal() bool { return f.Law == Gaussian }

// Discrete reports whether noise is discrete Laplace noise, on multiples of the steps of contributions.
func (f Facts) Discrete() bool { return f.Law == Laplace && f.Structure == PerStep }

// Radial reports whether noise has pure ε, and a density that depends only on the ℓ2 norm of the vector.
func (f Facts) Radial() bool { return f.Law == Gamma }

// definition describes a mechanism by name.
type definition struct {
	name string
	Facts
	scopes []acceptedScope
}

// noiseStructure describes where noise is added: at the nodes of a tree, before a filter, or in each step separately.
type noiseStructure interface {
	// problems checks the configuration fields whose meaning depends on the structure.
	problems(c Config, bad func(format string, args ...any))
	// shape sets the levels or the filter of a calibration, which its components share, and returns the bits of Λ.
	shape(p *Calibration, c Config) (bits int, err error)
	// calibrate sets the scale of a component, and returns its error bound.
	calibrate(x *calibratedComponent, p Calibration, c Config, kind definition) (bound float64, err error)
	// check checks levels and filter of a calibration without the configuration; matches compares both with it.
	check(p Calibration) error
	matches(p Calibration, c Config) error
	// loss returns µ or ε of a component in one window, rounded up, and the curve for Gaussian noise with a window.
	loss(x calibratedComponent, p Calibration, c Config, kind definition) (float64, dp.Curve)
	// sums returns a function that makes mechanisms of a component before their first step. They share the sampler.
	sums(x calibratedComponent, p Calibration, c Config, sampler noise.Sampler) (func() Sum, error)
}

var definitions = []definition{
	{"tree-gaussian", Facts{Law: Gaussian, Structure: Tree, Users: true, MaxWindow: maxWindow}, onTree},
	{"tree-gamma", Facts{Law: Gamma, Structure: Tree, Users: true, MaxWindow: maxWindow}, onTree},
	{"tree-laplace", Facts{Law: Laplace, Structure: Tree, Users: true, MaxWindow: maxWindow}, onTree},
	{"blt", Facts{Law: Gaussian, Structure: Filter, Users: true, MaxWindow: blt.MaxWindow}, onFilter},
	{"once-gaussian", Facts{Law: Gaussian, Structure: PerStep}, onSteps},
	{"once-gamma", Facts{Law: Gamma, Structure: PerStep}, onSteps},
	{"once-laplace", Facts{Law: Laplace, Structure: PerStep}, onSteps},
	{ExponentialMechanism, Facts{Law: Gumbel, Structure: Selection, MaxWindow: maxDrawn}, onDraws},
}

// Accepted scopes, by where the noise enters.
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

// acceptedScope is a scope that a mechanism accepts, with the structure that the noise has in this scope.
type acceptedScope struct {
	name string
	open func(protection.Scope) (noiseStructure, bool)
}

// of returns the acceptedScope of the scope type S.
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

// structure returns the structure of the noise under a scope, and false if the mechanism does not accept the scope.
func (f definition) structure(s protection.Scope) (noiseStructure, bool) {
	for _, t := range f.scopes {
		if structure, is := t.open(s); is {
			return structure, true
		}
	}
	return nil, false
}

// under is structure for a valid configuration, whose scope is known to be accepted.
func (f definition) under(c Config) noiseStructure {
	structure, is := f.structureOf(c)
	if !is {
		panic("BUG: mechanisms: " + f.name + " under a scope that it does not take")
	}
	return structure
}

// structureOf is structure for the contribution of a configuration.
func (f definition) structureOf(c Config) (noiseStructure, bool) {
	structure, is := f.structure(c.Scope)
	if is && c.Contribution.Names > 0 {
		return byName{}, true
	}
	return structure, is
}

// takes refuses terms for which the mechanism has no privacy accounting.
func (f definition) takes(t protection.Terms, bad func(format string, args ...any)) {
	if _, is := f.structure(t.Scope); !is {
		var names []string
		for _, t := range f.scopes {
			names = append(names, t.name)
		}
		bad("scope %s (%s): %s takes %s", t.Scope.Name(), t.Words().Length, f.name, strings.Join(names, " or "))
	}
	periodic := t.Unit.Figures().Period > 0 // a per-step mechanism takes it: only its scope does
	if _, several := t.Unit.EventSeparation(); several && !periodic && !f.Users {
		bad("unit %s: %s has only the unit event", t.Unit.Name(), f.name)
	}
}

// Names returns the names of all mechanisms that release sums: all except ExponentialMechanism.
func Names() []string {
	var names []string
	for _, f := range definitions {
		if f.Structure != Selection {
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
