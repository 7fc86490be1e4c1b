package mechanisms

import (
	"errors"
	"fmt"
	"math"

	"oriel/mechanisms/blt"
	"oriel/mechanisms/dp"
)

// Limits of a Config.
const (
	// maxBatch keeps a partial sum, B·Λ < 2⁵⁶, in int64, and every total, steps·B·Λ ≤ 2¹²⁰, in 128 bits: with steps < 2⁶⁴
	// and Λ < 2²⁵ no check at run time is needed, least of all one that looks at a private sum. A finer lattice, where
	// Memory asks for one, makes it less: maxPartial.
	maxBatch   = 1 << 31
	maxPartial = 1 << 56

	// MaxUserWindow keeps a decision's number of steps exact, in programs that read numbers as floating point too.
	MaxUserWindow = 1 << 40
)

// Config is what a user asks of a stream. Privacy parameters have no default.
type Config struct {
	Name      string       // mechanism, one of Names
	Window    uint64       // W, steps: a power of two for a tree, up to 2²² for blt, 0 with Memory and for the once- names
	Batch     uint64       // B, events a step, 1 to 2³¹
	Leaf      Leaf         // what a record adds
	Budget    dp.Budget    // of one window, or of the whole run; δ is used by Gaussian noise only
	Adjacency dp.Adjacency // how far two leaves may be apart, or a leaf and the null one

	// PaperSensitivity is the sensitivity the paper prints, L + µD, loss units: required by the -paper names, 0 for all
	// others.
	PaperSensitivity float64

	// AgeWeight is w in [0, 1] and Poles is m, 2 to 4 or 0 for automatic: what the filter of blt is fitted for, see
	// blt.Fit. Both are 0 for all other names.
	AgeWeight float64
	Poles     int

	// Memory is H, steps: blt then releases sums that decay by γ = 1 − 1/H a step, and its guarantee never ends: there is
	// no Window, Horizon, AgeWeight or Poles. 0 forgets nothing.
	Memory uint64

	// Separation is s ≥ 1 for the user level: the caller guarantees that accepted events of one user are at least s steps
	// apart (in one step, one at most), where acceptance depends on user ids and steps alone and every other event is
	// null. Budget is then that of exchanging all events of one user in a window. 0 is the event level.
	Separation uint64

	// UserWindow is W ≥ 1, steps, with Memory and Separation, and only there: Budget is then that of exchanging all events
	// of one user among any W steps, in all releases there will ever be. Without a memory users have the Window.
	UserWindow uint64

	// Horizon is T: the stream ends after T ≤ W steps, so that the guarantee of a window is one for its whole life. 0
	// means no end.
	Horizon uint64

	// Failure is β, the probability that Plan.ErrorBound fails at one step; 0 asks for no bound.
	Failure float64

	// MostMu is the largest µ of one window, or of the whole run, where an operator asks for more noise than Budget needs:
	// ε is then what that loses at δ. It is of Gaussian noise alone; 0 asks for nothing.
	MostMu float64

	// Draws is the schedule of Drawing, and zero for all other names.
	Draws Draws
}

// Span returns in how many steps an event is mostly at stake: of a window, or of a memory; 0 where each step is
// released once.
func (c Config) Span() uint64 { return max(c.Window, c.Memory) }

// Validate reports every problem at once.
func (c Config) Validate() error {
	var errs []error
	bad := func(format string, args ...any) {
		errs = append(errs, fmt.Errorf("mechanisms: "+format, args...))
	}
	kind, known := familyOf(c.Name)
	if !known {
		bad("name %q: not one of %v, nor %s", c.Name, Names(), Drawing)
	}
	if known {
		kind.structure(c.Memory).problems(c, bad)
	}
	if c.Batch < 1 || c.Batch > maxBatch {
		bad("batch %d: not in [1, 2^31]", c.Batch)
	}
	c.Leaf.problems(bad)
	if known && kind.Paper && !c.Leaf.plain() && len(c.Leaf.Parts) > 0 {
		bad("leaf: %s has the default one alone", c.Name)
	}
	if err := c.Budget.Validate(); err != nil {
		bad("budget: %w", err)
	} else if known && kind.Law == Gaussian && c.Budget.Delta == 0 {
		bad("budget: delta 0: %s needs a positive delta", c.Name)
	}
	if err := c.Adjacency.Validate(); err != nil {
		bad("%w", err)
	}
	switch {
	case known && !kind.Paper && c.PaperSensitivity != 0:
		bad("paper sensitivity %g: %s takes none", c.PaperSensitivity, c.Name)
	case known && kind.Paper && (!(c.PaperSensitivity > 0) || math.IsInf(c.PaperSensitivity, 1)):
		bad("paper sensitivity %g: not positive and finite", c.PaperSensitivity)
	}
	if c.Separation > 0 && kind.Paper {
		bad("separation %d: %s has no user level", c.Separation, c.Name)
	}
	if c.UserWindow > 0 && c.Memory == 0 {
		bad("user window %d: without a memory the window is the users', too", c.UserWindow)
	}
	if c.Window > 0 && c.Horizon > c.Window {
		bad("horizon %d: above window %d, which then is not the whole run", c.Horizon, c.Window)
	}
	if !(c.AgeWeight >= 0 && c.AgeWeight <= 1) {
		bad("age weight %g: not in [0, 1]", c.AgeWeight)
	}
	if c.Poles != 0 && (c.Poles < blt.MinPoles || c.Poles > blt.MaxPoles) {
		bad("poles %d: not in [%d, %d], nor 0 for automatic", c.Poles, blt.MinPoles, blt.MaxPoles)
	}
	switch {
	case !(c.MostMu >= 0) || math.IsInf(c.MostMu, 1):
		bad("mu %g at most: not finite and at least 0", c.MostMu)
	case c.MostMu > 0 && known && (kind.Law != Gaussian || kind.Paper):
		bad("mu %g at most: %s is not calibrated to one", c.MostMu, c.Name)
	}
	if known && !kind.Draws && c.Draws != (Draws{}) {
		bad("draws: %s has none of its own", c.Name)
	}
	if !(c.Failure >= 0 && c.Failure < 1) {
		bad("failure %g: not in [0, 1)", c.Failure)
	}
	return errors.Join(errs...)
}
