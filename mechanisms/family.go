package mechanisms

import (
	"slices"

	"oriel/mechanisms/dp"
	"oriel/mechanisms/noise"
)

// family is a mechanism by name.
type family struct {
	name string
	Facts
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
	{"tree-gaussian", treeOf(Gaussian)},
	{"tree-gamma", treeOf(Gamma)},
	{"tree-laplace", treeOf(Laplace)},
	{"tree-gaussian-paper", treeAsPrinted(Gaussian)},
	{"tree-gamma-paper", treeAsPrinted(Gamma)},
	{"blt", filterOf(Gaussian)},
	{"once-gaussian", onceOf(Gaussian)},
	{"once-gamma", onceOf(Gamma)},
	{Drawing, Facts{Law: Gumbel, Draws: true, MaxWindow: maxDrawn}},
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
