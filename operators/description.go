package operators

import (
	"oriel/mechanisms"
	"oriel/mechanisms/protection"
)

// Description is what `oriel plan` tells of an operator.
type Description struct {
	Radius   float64  // of the set that decisions are in, length; 0: there is none
	Diameter float64  // diameter of that set; 0: unknown
	Clip     float64  // as configured, if that of the contribution is another; 0: they are equal
	Distance string   // how far an exchange moves a contribution at most, in words; empty: as its clip says
	Steps    string   // what bounds how far a decision moves in a step, in words; empty: nothing that is worth saying
	Damping  *Damping // nil: unknown, or different from release to release

	// Searched says that decisions take steps on the objective that ORIEL_START_REGULARIZER damps, instead of standing at
	// its minimum, so that Damping is unknown.
	Searched bool

	Precision *Precision // nil: decisions are no numbers whose noise is known
	Band      *Band      // nil: decisions have no band around predictions

	// Mechanisms are the names of those that the operator takes; nil: all.
	Mechanisms []string

	// Draws says that decisions hold draws of the stream's own (mechanisms.Stream.Choose): other events over the same
	// releases then make other decisions.
	Draws bool
}

// Band says what a band around predictions costs, and holds.
type Band struct {
	Level float64 // the share of events that is to be within
	Noise float64 // how many times the noise of gradients is as large as without a band

	// ErrorMost returns, of the noise of an opened mechanism, by how much the share of the events of all steps so far
	// differs from Level at most, for every sequence of events without null events, with probability 0.95 over the noise.
	ErrorMost func(m *mechanisms.Mechanism) (func(step uint64) float64, error)
}

// Damping says how much of a release's noise stands in a decision, before it is projected: after t steps, the noise
// divided by Start + Step·N_t, N_t what sums under the mechanism's scope hold of t steps (mechanisms.Weight).
type Damping struct{ Start, Step float64 }

// After returns what noise is divided by after t steps.
func (d Damping) After(s protection.Scope, t uint64) float64 {
	return d.Start + float64(d.Step*mechanisms.Weight(s, t))
}
