package mechanisms

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"

	"oriel/mechanisms/blt"
	"oriel/mechanisms/dp"
	"oriel/mechanisms/lattice"
)

// Limits of a Config.
const (
	// maxWindow leaves block and position arithmetic of a tree exact.
	maxWindow = 1 << 62
	// maxBatch keeps a partial sum, B·Λ < 2⁵⁶, in int64, and every total, steps·B·Λ ≤ 2¹²⁰, in 128 bits: with steps < 2⁶⁴ and Λ < 2²⁵
	// no check at run time is needed, least of all one that looks at a private sum.
	maxBatch = 1 << 31
	// maxDimension bounds what a configuration can make a process allocate; a sealed state is far smaller.
	maxDimension = 1 << 24
)

// Config is what a user asks of a stream. Privacy parameters have no default.
type Config struct {
	Name      string       // mechanism, one of Names
	Window    uint64       // W, steps: a power of two for a tree, up to 2²² for blt
	Batch     uint64       // B, events a step, 1 to 2³¹
	Dimension int          // n, entries of a gradient
	Budget    dp.Budget    // of one window; δ is used by Gaussian noise only
	Clip      float64      // L, ℓ2 bound on one gradient, loss units
	Adjacency dp.Adjacency // sensitivity 2L under replace, L under zero-out

	// PaperSensitivity is the sensitivity the paper prints, L + µD, loss units: required by the -paper names, 0 for all others.
	PaperSensitivity float64

	// AgeWeight is w in [0, 1] and Poles is m, 2 to 4 or 0 for automatic: what the filter of blt is fitted for, see blt.Fit. Both are 0
	// for all other names.
	AgeWeight float64
	Poles     int

	// Failure is β, the probability that Plan.ErrorBound fails at one step; 0 asks for no bound.
	Failure float64
}

// Validate reports every problem at once.
func (c Config) Validate() error {
	var errs []error
	bad := func(format string, args ...any) {
		errs = append(errs, fmt.Errorf("mechanisms: "+format, args...))
	}
	kind, known := familyOf(c.Name)
	if !known {
		bad("name %q: not one of %v", c.Name, Names())
	}
	switch {
	case known && kind.toeplitz:
		if c.Window < 1 || c.Window > blt.MaxWindow {
			bad("window %d: not in [1, 2^22]", c.Window)
		}
	case c.Window == 0:
		bad("window 0: not a power of two")
	case c.Window > maxWindow:
		bad("window %d: above 2^62", c.Window)
	case c.Window&(c.Window-1) != 0:
		bad("window %d: not a power of two, the next is %d", c.Window, uint64(1)<<bits.Len64(c.Window))
	}
	if c.Batch < 1 || c.Batch > maxBatch {
		bad("batch %d: not in [1, 2^31]", c.Batch)
	}
	if c.Dimension < 1 || c.Dimension > maxDimension {
		bad("dimension %d: not in [1, 2^24]", c.Dimension)
	}
	if _, err := lattice.NewGrid(c.Clip); err != nil {
		bad("%w", err)
	}
	if err := c.Budget.Validate(); err != nil {
		bad("budget: %w", err)
	} else if known && !kind.pure && c.Budget.Delta == 0 {
		bad("budget: delta 0: %s needs a positive delta", c.Name)
	}
	if err := c.Adjacency.Validate(); err != nil {
		bad("%w", err)
	}
	switch {
	case known && !kind.paper && c.PaperSensitivity != 0:
		bad("paper sensitivity %g: %s takes none", c.PaperSensitivity, c.Name)
	case known && kind.paper && (!(c.PaperSensitivity > 0) || math.IsInf(c.PaperSensitivity, 1)):
		bad("paper sensitivity %g: not positive and finite", c.PaperSensitivity)
	}
	if known && !kind.toeplitz && (c.AgeWeight != 0 || c.Poles != 0) {
		bad("age weight %g, poles %d: %s has no filter", c.AgeWeight, c.Poles, c.Name)
	}
	if !(c.AgeWeight >= 0 && c.AgeWeight <= 1) {
		bad("age weight %g: not in [0, 1]", c.AgeWeight)
	}
	if c.Poles != 0 && (c.Poles < blt.MinPoles || c.Poles > blt.MaxPoles) {
		bad("poles %d: not in [%d, %d], nor 0 for automatic", c.Poles, blt.MinPoles, blt.MaxPoles)
	}
	if !(c.Failure >= 0 && c.Failure < 1) {
		bad("failure %g: not in [0, 1)", c.Failure)
	}
	return errors.Join(errs...)
}

// Names returns the names of all mechanisms.
func Names() []string {
	names := make([]string, len(families))
	for i, f := range families {
		names[i] = f.name
	}
	return names
}

// family is what calibration needs to know of a mechanism.
type family struct {
	name     string
	noise    noiseKind
	pure     bool // proves δ = 0
	paper    bool // printed constants
	toeplitz bool // a filter, not a tree
}

type noiseKind uint8

const (
	gaussianNoise noiseKind = iota + 1
	gammaNoise
	laplaceNoise
)

var families = []family{
	{name: "tree-gaussian", noise: gaussianNoise},
	{name: "tree-gamma", noise: gammaNoise, pure: true},
	{name: "tree-laplace", noise: laplaceNoise, pure: true},
	{name: "tree-gaussian-paper", noise: gaussianNoise, paper: true},
	{name: "tree-gamma-paper", noise: gammaNoise, pure: true, paper: true},
	{name: "blt", noise: gaussianNoise, toeplitz: true},
}

func familyOf(name string) (family, bool) {
	i := slices.IndexFunc(families, func(f family) bool { return f.name == name })
	if i < 0 {
		return family{}, false
	}
	return families[i], true
}
