package protection

import (
	"fmt"
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

// PerStep protects an event in the only release that contains it: each step's own sum is released once.
type PerStep struct{}

func (PerStep) Name() string { return "per-step release" }

// Span returns 0, because an event is in one release.
func (PerStep) Span() uint64 { return 0 }

func (PerStep) End() uint64                         { return Endless }
func (PerStep) ForLife() bool                       { return true }
func (PerStep) Memory() (steps uint64, decays bool) { return 0, false }
func (p PerStep) RoundedUp(bool) Scope              { return p }
func (PerStep) Figures() Figures                    { return Figures{} }

func (PerStep) BackgroundSteps() uint64 { return 0 }

func (PerStep) Validate() error                       { return nil }
func (PerStep) periods(uint64) uint64                 { return 1 }
func (PerStep) reached(uint64, float64, float64) bool { return true }
func (PerStep) capped() bool                          { return false }

// Decay protects an event in all releases, for ever. Sums decay by 1 − 1/H a step, H = Steps, and noise starts anew at
// public steps. The loss of an event grows for about H steps, and then stays constant.
type Decay struct{ Steps uint64 }

func (Decay) Name() string                          { return "decay" }
func (d Decay) Span() uint64                        { return d.Steps }
func (Decay) End() uint64                           { return Endless }
func (Decay) ForLife() bool                         { return true }
func (d Decay) Memory() (steps uint64, decays bool) { return d.Steps, true }
func (d Decay) RoundedUp(bool) Scope                { return d }
func (d Decay) Figures() Figures                    { return Figures{Memory: d.Steps} }
func (Decay) BackgroundSteps() uint64               { return 0 }

// Validate refuses a memory of 0 steps.
func (d Decay) Validate() error {
	if d.Steps == 0 {
		return fmt.Errorf("protection: memory 0: sums decay over one step at least")
	}
	return nil
}

func (Decay) periods(uint64) uint64                  { return 1 }
func (Decay) reached(_ uint64, mu, all float64) bool { return mu >= all }
func (Decay) capped() bool                           { return true }

// Window protects an event in all releases of the W steps that start with the event's own step. Later releases cost
// more, see Guarantee.At.
type Window struct{ Steps uint64 }

func (Window) Name() string   { return "window" }
func (w Window) Span() uint64 { return w.Steps }
func (Window) End() uint64    { return Endless }

// ForLife returns false, because an event that left the window is still in the running sum.
func (Window) ForLife() bool { return false }

func (Window) Memory() (steps uint64, decays bool) { return 0, false }
func (w Window) RoundedUp(powers bool) Scope       { return Window{Steps: fit(w.Steps, powers)} }
func (w Window) Figures() Figures                  { return Figures{Window: w.Steps} }
func (w Window) BackgroundSteps() uint64           { return w.Steps }

// Validate refuses a window of 0 steps.
func (w Window) Validate() error {
	if w.Steps == 0 {
		return fmt.Errorf("protection: window 0: an event is in the releases of one step at least")
	}
	return nil
}

func (w Window) periods(age uint64) uint64             { return (age-1)/w.Steps + 1 }
func (w Window) reached(age uint64, _, _ float64) bool { return age == w.Steps }
func (Window) capped() bool                            { return false }

// Lifetime protects an event in all releases of a stream that ends after T = Steps steps.
type Lifetime struct {
	Steps  uint64 // T, last step of the life
	Within uint64 // window of the mechanism's calibration, at least T; a tree rounds T up to a power of two
}

func (Lifetime) Name() string                        { return "lifetime" }
func (l Lifetime) Span() uint64                      { return l.Within }
func (l Lifetime) End() uint64                       { return l.Steps }
func (Lifetime) ForLife() bool                       { return true }
func (Lifetime) Memory() (steps uint64, decays bool) { return 0, false }

// RoundedUp returns the lifetime with the shortest window that a mechanism accepts.
func (l Lifetime) RoundedUp(powers bool) Scope {
	return Lifetime{Steps: l.Steps, Within: fit(l.Steps, powers)}
}

func (l Lifetime) Figures() Figures { return Figures{Window: l.Within, Horizon: l.Steps} }

func (l Lifetime) BackgroundSteps() uint64 { return l.Steps }

// Validate refuses a stream of 0 steps, and a window that is shorter than the stream.
func (l Lifetime) Validate() error {
	if l.Steps == 0 || l.Steps > l.Within {
		return fmt.Errorf("protection: horizon %d: not in [1, %d], the window that the stream ends within", l.Steps, l.Within)
	}
	return nil
}

func (Lifetime) periods(uint64) uint64                   { return 1 }
func (l Lifetime) reached(age uint64, _, _ float64) bool { return age == l.Within }
func (Lifetime) capped() bool                            { return false }
