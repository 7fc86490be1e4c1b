package operators

import (
	"oriel/mechanisms"
	"oriel/mechanisms/protection"
)

// Description holds the figures that `oriel plan` prints about an operator.
type Description struct {
	Radius   float64 // radius of the set of decisions; 0: there is none
	Diameter float64 // diameter of that set; 0: unknown
	Clip     float64 // as configured, if the contribution's clip differs; 0: they are equal
	// Bound on the movement of a contribution by an exchange, in words; empty: it follows from the clip.
	Distance string
	Steps    string   // bound on the movement of a decision in a step, in words; may be empty
	Damping  *Damping // nil: unknown, or different from release to release

	// Searched reports that a decision takes steps on the objective that ORIEL_START_REGULARIZER damps and does not
	// reach its minimum. Damping is then unknown.
	Searched bool

	Precision *Precision // nil: decisions are no numbers whose noise is known
	Band      *Band      // nil: decisions have no band around predictions

	// Mechanisms are the names of the mechanisms that the operator accepts; nil means all.
	Mechanisms []string

	// Draws reports that decisions contain random draws from the stream (mechanisms.Stream.Choose). Then different
	// events with the same releases lead to different decisions.
	Draws bool
}

// Band describes the cost and the coverage of a band around predictions.
type Band struct {
	Level float64 // target share of events within the band
	Noise float64 // how many times the noise of gradients is as large as without a band

	// ErrorMost returns a bound on the coverage error of an opened mechanism, as a function of the step. For every
	// sequence of events without null events, the share of the events of all steps so far differs from Level by at most
	// this bound, with probability 0.95 over the noise.
	ErrorMost func(m *mechanisms.Mechanism) (func(step uint64) float64, error)
}

// Damping describes how much of a release's noise remains in a decision before it is projected. After t steps it is the
// noise divided by Start + Step·N_t, where N_t is the total weight of t steps in sums of the mechanism's scope
// (mechanisms.Weight).
type Damping struct{ Start, Step float64 }

// After returns the divisor of the noise after t steps.
func (d Damping) After(s protection.Scope, t uint64) float64 {
	return d.Start + float64(d.Step*mechanisms.Weight(s, t))
}
