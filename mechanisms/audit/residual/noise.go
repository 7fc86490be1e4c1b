package residual

import (
	"errors"
	"fmt"
	"strings"

	"oriel/mechanisms"
	"oriel/mechanisms/audit/definition"
)

// leastScale, lattice units: below it rounding is not small beside the noise, and a draw is no normal.
const leastScale = 1 << 12

// MaxSteps bounds what is remembered of the forecasts of a tree.
const MaxSteps = 1 << 18

// Noise is the noise that a plan claims, in releases 1 … T of n coordinates.
type Noise struct {
	config mechanisms.Config
	plan   mechanisms.Plan
	n      int
	steps  int
	single int     // releases from the first on whose z are single draws, mapped to normals; T for Gaussian noise
	unit   float64 // σ or θ, loss units
	once   bool

	forecasts []forecast // of a tree
	filter    *definition.Filter
	forest    definition.Forest
	normal    func(x []float64) // draws in units of θ to standard normals; nil for Gaussian noise
}

// New returns the noise of the first steps releases.
func New(c mechanisms.Config, p mechanisms.Plan, steps int) (*Noise, error) {
	if _, err := p.Guarantee(c); err != nil {
		return nil, err
	}
	if steps < 1 || steps > MaxSteps {
		return nil, fmt.Errorf("residual: %d steps: not in [1, %d]", steps, MaxSteps)
	}
	if s := p.Scale.Float64(); s < leastScale {
		return nil, fmt.Errorf("residual: noise of scale %.3g lattice units: below %d, where rounding is not small beside it", s, leastScale)
	}
	x := &Noise{
		config: c, plan: p, n: c.Dimension, steps: steps, single: steps,
		unit: p.Scale.Float64() * p.Grid.Unit(), once: strings.HasPrefix(c.Name, "once-"),
	}
	switch {
	case strings.Contains(c.Name, "gamma"):
		x.normal = gammaNormals(c.Dimension)
	case strings.Contains(c.Name, "laplace"):
		x.normal = laplaceNormals
	}
	switch {
	case x.once:
	case p.Filter.Count > 0:
		f := definition.NewFilter(p.Filter)
		x.filter = &f
	case c.Window > 0:
		x.forest = definition.NewForest(c.Window, steps)
		x.forecasts = newForecasts(x.forest)
		if x.normal != nil {
			x.single = int(min(c.Window, uint64(steps)))
		}
	default:
		return nil, errors.New("residual: a mechanism without definition")
	}
	return x, nil
}

// Steps is T.
func (x *Noise) Steps() int { return x.steps }

// Single is how many releases, from the first on, give single draws or, of Gaussian noise, independent normals.
func (x *Noise) Single() int { return x.single }
