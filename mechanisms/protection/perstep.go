package protection

// PerStep protects an event in the only release that contains it: each step's own sum is released once.
type PerStep struct{}

// Name returns "per-step release".
func (PerStep) Name() string { return "per-step release" }

// Span returns 0, because an event is in one release.
func (PerStep) Span() uint64 { return 0 }

// End returns Endless.
func (PerStep) End() uint64 { return Endless }

// ForLife returns true.
func (PerStep) ForLife() bool { return true }

// Memory returns 0 and false.
func (PerStep) Memory() (steps uint64, decays bool) { return 0, false }

// RoundedUp returns the scope.
func (p PerStep) RoundedUp(bool) Scope { return p }

// Figures returns no numbers.
func (PerStep) Figures() Figures { return Figures{} }

// Ages returns one age, because the loss is the same at all of them.
func (PerStep) Ages() []Age { return []Age{{Steps: 1, Name: "at every age"}} }

// Logged returns the same ages as Ages.
func (p PerStep) Logged() []Age { return p.Ages() }

// BackgroundSteps returns 0.
func (PerStep) BackgroundSteps() uint64 { return 0 }

// Words returns texts without a window.
func (PerStep) Words() Words {
	return Words{
		Length: "no window", Age: "at every age", Claim: ", for ever", Point: " for ever",
		Promise: "differential privacy of each stream's whole life: every event is in one release",
	}
}

// Validate returns nil.
func (PerStep) Validate() error { return nil }

func (PerStep) periods(uint64) uint64                 { return 1 }
func (PerStep) reached(uint64, float64, float64) bool { return true }
func (PerStep) capped() bool                          { return false }
