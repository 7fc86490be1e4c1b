package protection

import (
	"math"
	"math/bits"
)

// Endless is the value of End for a stream that does not end: an age that no stream reaches.
const Endless uint64 = math.MaxUint64

// Scope defines over which releases the loss of one unit is bounded. Its values are Window, Decay, Lifetime and
// PerStep.
type Scope interface {
	// Name returns the word for the scope in error messages.
	Name() string

	// Span returns the steps over which most of an event's loss occurs: W, H, or the window of a Lifetime. It is 0 if
	// an event is in only one release.
	Span() uint64

	// End returns the last step that has a release, or Endless.
	End() uint64

	// ForLife reports whether the loss that a Guarantee states covers all releases, for ever.
	ForLife() bool

	// Memory returns H, and true, if sums decay by 1 − 1/H a step.
	Memory() (steps uint64, decays bool)

	// RoundedUp returns the scope with the shortest window that a mechanism accepts: the next power of two if powers is
	// set.
	RoundedUp(powers bool) Scope

	// Figures returns the numbers of the scope that decisions and reports contain.
	Figures() Figures

	// BackgroundSteps returns the number of steps among whose events one event must be hidden. DeltaWarning uses it: a
	// mechanism that publishes one of these events at random must not satisfy the claim. It is 0 if the scope has no
	// such number.
	BackgroundSteps() uint64

	// Validate checks the scope's own numbers.
	Validate() error

	periods(age uint64) uint64                // number of windows that age steps touch; each costs pure ε once
	reached(age uint64, mu, all float64) bool // whether µ at this age already equals the claim's µ
	capped() bool                             // whether the claim bounds the loss at every age
}

// Figures holds the numbers of a scope under the names that formats use. A number that the scope does not have is 0.
type Figures struct {
	Window  uint64 // W, steps
	Horizon uint64 // T, steps
	Memory  uint64 // H, steps
}

// longest is the largest power of two that a mechanism accepts as a window.
const longest = 1 << 62

// fit returns the shortest window of at least the given steps. It never returns a shorter window: if steps exceeds the
// longest window, it returns steps, which mechanisms refuse.
func fit(steps uint64, powers bool) uint64 {
	if !powers || steps&(steps-1) == 0 || steps > longest {
		return steps
	}
	return 1 << bits.Len64(steps)
}
