package protection

import "fmt"

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
