package mechanisms

import (
	"slices"

	"oriel/mechanisms/dp"
	"oriel/mechanisms/noise"
)

// family is a mechanism by name.
type family struct {
	name      string
	noise     noiseKind
	pure      bool // proves δ = 0
	paper     bool // printed constants
	structure structure
}

type noiseKind uint8

const (
	gaussianNoise noiseKind = iota + 1
	gammaNoise
	laplaceNoise
)

// structure is where noise enters: at the nodes of a tree, before a filter, or in single steps.
type structure interface {
	// problems checks the fields of a configuration that have another meaning for each structure.
	problems(c Config, bad func(format string, args ...any))
	// calibrate sets levels or filter, scale and error bound of a plan that has name and grid.
	calibrate(p *Plan, c Config, kind family) error
	// check checks levels and filter of a plan by themselves, matches against a valid configuration.
	check(p Plan) error
	matches(p Plan, c Config) error
	// loss returns µ or ε of one window, rounded up, and the curve of Gaussian noise that has a window.
	loss(p Plan, c Config, kind family) (float64, dp.Curve)
	newSum(p Plan, c Config, sampler noise.Sampler) (Sum, error)
}

var families = []family{
	{name: "tree-gaussian", noise: gaussianNoise, structure: tree{}},
	{name: "tree-gamma", noise: gammaNoise, pure: true, structure: tree{}},
	{name: "tree-laplace", noise: laplaceNoise, pure: true, structure: tree{}},
	{name: "tree-gaussian-paper", noise: gaussianNoise, paper: true, structure: tree{}},
	{name: "tree-gamma-paper", noise: gammaNoise, pure: true, paper: true, structure: tree{}},
	{name: "blt", noise: gaussianNoise, structure: filter{}},
	{name: "once-gaussian", noise: gaussianNoise, structure: single{}},
	{name: "once-gamma", noise: gammaNoise, pure: true, structure: single{}},
}

// Names returns the names of all mechanisms.
func Names() []string {
	names := make([]string, len(families))
	for i, f := range families {
		names[i] = f.name
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
