package mechanisms

import (
	"errors"
	"fmt"

	"oriel/mechanisms/blt"
	"oriel/mechanisms/contribution"
	"oriel/mechanisms/dp"
	"oriel/mechanisms/protection"
)

// maxDecayed bounds B·Λ, the contribution sum of a step, where sums decay: in fixed point they have no room for more.
// It is a limit of the configuration. Other mechanisms have none: a log of 2³¹ partitions has fewer than 2⁹⁴ records,
// so with Λ < 2²⁵ every total stays below 2¹¹⁹ and fits 128 bits. So no check at run time depends on a private sum.
const maxDecayed = 1 << 56

// Config is the configuration of a stream. Privacy parameters have no default.
type Config struct {
	Name         string                    // mechanism, one of Names
	Batch        uint64                    // B, events per step, at least 1; under dp.AddRemove 0: they are not counted
	Contribution contribution.Contribution // what one record adds to the sum
	Budget       dp.Budget                 // bounds all releases that the scope names; only Gaussian noise uses δ

	// Terms name the unit that is protected, and for how long. The definition of a mechanism lists the scopes it
	// accepts: a window must be a power of two for a tree, and at most 2²² for blt.
	protection.Terms

	// AgeWeight is w in [0, 1], and Poles is m: 2 to 4, or 0 for automatic. Both are arguments of blt.Fit and must be 0
	// for all other mechanisms.
	AgeWeight float64
	Poles     int

	// Failure is β, the probability that Calibration.ErrorBound fails at one step. If it is 0, no bound is computed.
	Failure float64

	// Draws is the schedule of ExponentialMechanism; for all other names it must be zero.
	Draws Draws
}

// Dimension returns the number of coordinates of all components: n for the default contribution.
func (c Config) Dimension() int { return c.Contribution.Size() }

// Clip returns L of the first component.
func (c Config) Clip() float64 { return c.Contribution.Components[0].Clip }

// Validate reports every problem at once.
func (c Config) Validate() error {
	var errs []error
	bad := func(format string, args ...any) {
		errs = append(errs, fmt.Errorf("mechanisms: "+format, args...))
	}
	kind, known := definitionOf(c.Name)
	if !known {
		bad("name %q: not one of %v, nor %s", c.Name, Names(), ExponentialMechanism)
	}
	if err := c.Terms.Validate(); err != nil {
		bad("%w", err)
	} else if known {
		kind.takes(c.Terms, bad)
	}
	if structure, taken := kind.structureOf(c); taken {
		structure.problems(c, bad)
	}
	switch presence := c.Unit != nil && c.Unit.Adjacency() == dp.AddRemove; {
	case presence && c.Batch > 0:
		bad(
			"batch %d: under adjacency add-remove a step has no fixed number of events, or an absent event would move all later ones; "+
				"want 0",
			c.Batch,
		)
	case !presence && c.Batch < 1:
		bad("batch 0: a step has at least one record")
	}
	c.Contribution.Problems(bad)
	if err := c.Budget.Validate(); err != nil {
		bad("budget: %w", err)
	} else if known && kind.Law == Gaussian && c.Budget.Delta == 0 {
		bad("budget: delta 0: %s needs a positive delta", c.Name)
	}
	if !(c.AgeWeight >= 0 && c.AgeWeight <= 1) {
		bad("age weight %g: not in [0, 1]", c.AgeWeight)
	}
	if c.Poles != 0 && (c.Poles < blt.MinPoles || c.Poles > blt.MaxPoles) {
		bad("poles %d: not in [%d, %d], nor 0 for automatic", c.Poles, blt.MinPoles, blt.MaxPoles)
	}
	if known && kind.Structure != Selection && c.Draws != (Draws{}) {
		bad("draws: %s has none of its own", c.Name)
	}
	if !(c.Failure >= 0 && c.Failure < 1) {
		bad("failure %g: not in [0, 1)", c.Failure)
	}
	return errors.Join(errs...)
}
