package protection

// PerStep protects an event in the one release that it is in: each step's own sum is released once, for ever.
type PerStep struct{}

// Name returns "per-step release".
func (PerStep) Name() string { return "per-step release" }

// Span returns 0: there is one release.
func (PerStep) Span() uint64 { return 0 }

// End returns Endless.
func (PerStep) End() uint64 { return Endless }

// ForLife returns true.
func (PerStep) ForLife() bool { return true }

// Memory returns none.
func (PerStep) Memory() (steps uint64, decays bool) { return 0, false }

// RoundedUp returns the scope.
func (p PerStep) RoundedUp(bool) Scope { return p }

// Figures returns none.
func (PerStep) Figures() Figures { return Figures{} }

// Ages returns one: all ages are alike.
func (PerStep) Ages() []Age { return []Age{{Steps: 1, Name: "at every age"}} }

// Logged returns the same ages as Ages.
func (p PerStep) Logged() []Age { return p.Ages() }

// BackgroundSteps returns none.
func (PerStep) BackgroundSteps() uint64 { return 0 }

// Words says that there is no window.
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
func (PerStep) stored(bool) []uint64                  { return nil }
