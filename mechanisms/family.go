package mechanisms

import (
	"slices"
	"strings"

	"oriel/mechanisms/blt"
	"oriel/mechanisms/dp"
	"oriel/mechanisms/noise"
	"oriel/mechanisms/protection"
)

// family is a mechanism by name.
type family struct {
	name string
	Facts
	scopes []taken
}

// structure is where noise enters: at the nodes of a tree, before a filter, or in single steps.
type structure interface {
	// problems checks the fields of a configuration that have another meaning for each structure.
	problems(c Config, bad func(format string, args ...any))
	// shape sets levels or filter of a plan, which its parts have in common, and returns the bits of Λ.
	shape(p *Plan, c Config) (bits int, err error)
	// calibrate sets the scale of a part, and returns its error bound.
	calibrate(x *piece, p Plan, c Config, kind family) (bound float64, err error)
	// check checks levels and filter of a plan by themselves, matches against a valid configuration.
	check(p Plan) error
	matches(p Plan, c Config) error
	// loss returns µ or ε of a part in one window, rounded up, and the curve of Gaussian noise that has a window.
	loss(x piece, p Plan, c Config, kind family) (float64, dp.Curve)
	// sums returns what makes mechanisms of a part before their first step, which share the sampler.
	sums(x piece, p Plan, c Config, sampler noise.Sampler) (func() Sum, error)
}

var families = []family{
	{"tree-gaussian", Facts{Law: Gaussian, Tree: true, Users: true, MaxWindow: maxWindow}, onTree},
	{"tree-gamma", Facts{Law: Gamma, Tree: true, Users: true, MaxWindow: maxWindow}, onTree},
	{"tree-laplace", Facts{Law: Laplace, Tree: true, Users: true, MaxWindow: maxWindow}, onTree},
	{"tree-gaussian-paper", Facts{Law: Gaussian, Tree: true, Paper: true, MaxWindow: maxWindow}, onTree},
	{"tree-gamma-paper", Facts{Law: Gamma, Tree: true, Paper: true, MaxWindow: maxWindow}, onTree},
	{"blt", Facts{Law: Gaussian, Filter: true, Users: true, MaxWindow: blt.MaxWindow}, onFilter},
	{"once-gaussian", Facts{Law: Gaussian, Once: true}, onSteps},
	{"once-gamma", Facts{Law: Gamma, Once: true}, onSteps},
	{Drawing, Facts{Law: Gumbel, Draws: true, MaxWindow: maxDrawn}, onDraws},
}

// The scopes that each place of noise takes.
var (
	onTree = []taken{
		of(func(w protection.Window) structure { return tree{w.Steps} }),
		of(func(l protection.Lifetime) structure { return tree{l.Within} }),
	}
	onFilter = []taken{
		of(func(w protection.Window) structure { return filter{w.Steps} }),
		of(func(l protection.Lifetime) structure { return filter{l.Within} }),
		of(func(d protection.Decay) structure { return forgetting{d.Steps} }),
	}
	onSteps = []taken{of(func(protection.PerStep) structure { return single{} })}
	onDraws = []taken{of(func(l protection.Lifetime) structure { return drawing{l} })}
)

// taken is a scope that a mechanism takes, and where noise enters under it.
type taken struct {
	name string
	open func(protection.Scope) (structure, bool)
}

// of returns the row of scopes of one type.
func of[S protection.Scope](open func(S) structure) taken {
	var zero S
	return taken{zero.Name(), func(s protection.Scope) (structure, bool) {
		scope, is := s.(S)
		if !is {
			return nil, false
		}
		return open(scope), true
	}}
}

// structure returns where noise enters under a scope, and false where the mechanism does not take it.
func (f family) structure(s protection.Scope) (structure, bool) {
	for _, t := range f.scopes {
		if structure, is := t.open(s); is {
			return structure, true
		}
	}
	return nil, false
}

// under is structure of a valid configuration, whose scope the mechanism takes.
func (f family) under(s protection.Scope) structure {
	structure, is := f.structure(s)
	if !is {
		panic("BUG: mechanisms: " + f.name + " under a scope that it does not take")
	}
	return structure
}

// takes refuses terms that the mechanism has no account of.
func (f family) takes(t protection.Terms, bad func(format string, args ...any)) {
	if _, is := f.structure(t.Scope); !is {
		var names []string
		for _, t := range f.scopes {
			names = append(names, t.name)
		}
		bad("scope %s (%s): %s takes %s", t.Scope.Name(), t.Scope.Words().Length, f.name, strings.Join(names, " or "))
	}
	if _, several := t.Unit.Train(); several && !f.Users {
		bad("unit %s: %s has the unit event alone", t.Unit.Name(), f.name)
	}
}

// Names returns the names of all mechanisms that release sums: all but Drawing.
func Names() []string {
	var names []string
	for _, f := range families {
		if !f.Draws {
			names = append(names, f.name)
		}
	}
	return names
}

func familyOf(name string) (family, bool) {
	i := slices.IndexFunc(families, func(f family) bool { return f.name == name })
	if i < 0 {
		return family{}, false
	}
	return families[i], true
}
