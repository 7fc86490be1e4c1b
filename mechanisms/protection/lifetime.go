package protection

import "fmt"

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
