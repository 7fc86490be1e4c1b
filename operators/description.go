package operators

import (
	"oriel/mechanisms"
	"oriel/mechanisms/protection"
)

// Description holds the figures that `oriel plan` prints about an operator.
type Description struct {
	Radius   float64  // radius of the set of decisions; 0 if there is no set
	Diameter float64  // diameter of that set; 0 if unknown
	Clip     float64  // the configured clip, if the contribution's clip differs from it; 0 if they are equal
	Distance string   // the sensitivity in words; empty if it follows from the clip
	Steps    string   // how far a decision moves in a step, in words; may be empty
	Damping  *Damping // nil if unknown, or if it differs between releases

	// Searched reports that a decision makes searched steps on its objective and does not reach the minimum.
	// ORIEL_START_REGULARIZER damps these steps, but Damping is unknown.
	Searched bool

	Precision *Precision // nil if decisions are not numbers with known noise
	Band      *Band      // nil if decisions have no band around predictions

	// Mechanisms are the names of the mechanisms that the operator accepts; nil means all.
	Mechanisms []string

	// Draws reports that decisions contain random draws from the stream (mechanisms.Stream.Choose). Decisions are then
	// not determined by the releases.
	Draws bool
}

// Band describes the cost and the coverage of a band around predictions.
type Band struct {
	Level float64 // target share of labels within the band
	Noise float64 // factor by which the band increases the noise of gradients

	// MaxError returns a bound on the coverage error of an opened mechanism, as a function of the step. For every
	// sequence without null events, the share of events within the band, over all steps so far, differs from Level by
	// at most this bound, with probability 0.95 over the noise.
	MaxError func(m *mechanisms.Mechanism) (func(step uint64) float64, error)
}

// Damping describes how much of a release's noise remains in a decision, before the decision is projected. After t
// steps the noise is divided by Start + Step·N_t, where N_t is the total weight of t steps in sums of the mechanism's
// scope (mechanisms.Weight).
type Damping struct{ Start, Step float64 }

// After returns the divisor of the noise after t steps.
func (d Damping) After(s protection.Scope, t uint64) float64 {
	return d.Start + float64(d.Step*mechanisms.Weight(s, t))
}
