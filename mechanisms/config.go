package mechanisms

import (
	"errors"
	"fmt"
	"math"
	"math/big"

	"oriel/mechanisms/blt"
	"oriel/mechanisms/contribution"
	"oriel/mechanisms/dp"
	"oriel/mechanisms/protection"
)

// Limits of a Config.
const (
	// maxBatch keeps a partial sum, B·Λ < 2⁵⁶, in int64, and every total, steps·B·Λ ≤ 2¹²⁰, in 128 bits. With steps <
	// 2⁶⁴ and Λ < 2²⁵ no overflow check is needed at run time, and so no check depends on a private sum. A finer
	// lattice, if a Decay needs one, lowers the limit to maxPartial.
	maxBatch   = 1 << 31
	maxPartial = 1 << 56
)

// Config is the configuration of a stream. Privacy parameters have no default.
type Config struct {
	Name         string                    // mechanism, one of Names
	Batch        uint64                    // B, events per step, 1 to 2³¹
	Contribution contribution.Contribution // what one record adds to the sum
	Budget       dp.Budget                 // bounds all releases that the scope names; only Gaussian noise uses δ

	// Terms name the unit that is protected, and for how long. The definition of a mechanism lists the scopes it
	// accepts: a window must be a power of two for a tree, and at most 2²² for blt.
	protection.Terms

	// Printed returns the noise scale of a node, in loss units, that a paper prints for a tree with this number of
	// levels. Names with the suffix -paper require it; for all others it must be nil. No service accepts -paper names.
	Printed func(levels int) *big.Float

	// AgeWeight is w in [0, 1], and Poles is m: 2 to 4, or 0 for automatic. Both are arguments of blt.Fit and must be 0
	// for all other mechanisms.
	AgeWeight float64
	Poles     int

	// Failure is β, the probability that Calibration.ErrorBound fails at one step. If it is 0, no bound is computed.
	Failure float64

	// MaxMu is the largest µ of all releases that the scope names, for an operator that needs more noise than Budget
	// requires. ε is then the loss of MaxMu at δ. Only Gaussian noise uses it; 0 means no limit.
	MaxMu float64

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
	if structure, taken := kind.structure(c.Scope); taken {
		structure.problems(c, bad)
	}
	if c.Batch < 1 || c.Batch > maxBatch {
		bad("batch %d: not in [1, 2^31]", c.Batch)
	}
	c.Contribution.Problems(bad)
	if known && kind.Paper && !c.Contribution.Plain() && len(c.Contribution.Components) > 0 {
		bad("contribution: %s has only the default one", c.Name)
	}
	if err := c.Budget.Validate(); err != nil {
		bad("budget: %w", err)
	} else if known && kind.Law == Gaussian && c.Budget.Delta == 0 {
		bad("budget: delta 0: %s needs a positive delta", c.Name)
	}
	switch {
	case known && !kind.Paper && c.Printed != nil:
		bad("printed scale: %s takes none", c.Name)
	case known && kind.Paper && c.Printed == nil:
		bad("printed scale: missing, but %s needs it", c.Name)
	}
	if !(c.AgeWeight >= 0 && c.AgeWeight <= 1) {
		bad("age weight %g: not in [0, 1]", c.AgeWeight)
	}
	if c.Poles != 0 && (c.Poles < blt.MinPoles || c.Poles > blt.MaxPoles) {
		bad("poles %d: not in [%d, %d], nor 0 for automatic", c.Poles, blt.MinPoles, blt.MaxPoles)
	}
	switch {
	case !(c.MaxMu >= 0) || math.IsInf(c.MaxMu, 1):
		bad("mu %g at most: not finite and at least 0", c.MaxMu)
	case c.MaxMu > 0 && known && (kind.Law != Gaussian || kind.Paper):
		bad("mu %g at most: %s is not calibrated to one", c.MaxMu, c.Name)
	}
	if known && kind.Structure != Selection && c.Draws != (Draws{}) {
		bad("draws: %s has none of its own", c.Name)
	}
	if !(c.Failure >= 0 && c.Failure < 1) {
		bad("failure %g: not in [0, 1)", c.Failure)
	}
	return errors.Join(errs...)
}
