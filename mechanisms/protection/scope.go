package protection

import (
	"fmt"
	"math"
	"math/bits"
)

// Endless is End of a stream that does not end: an age that no stream reaches.
const Endless uint64 = math.MaxUint64

// Scope says over which releases the loss of one unit is bounded. Its values are Window, Decay, Lifetime and PerStep.
type Scope interface {
	// Name is the word for it in refusals.
	Name() string

	// Span returns the steps over which an event is mostly at stake: W, H, or the window that a Lifetime stands in. It is
	// 0 where an event is in one release alone.
	Span() uint64

	// End returns the last step that has a release, or Endless.
	End() uint64

	// ForLife reports whether the loss that a Guarantee states is that of all releases there will ever be.
	ForLife() bool

	// Memory returns H, and true, where sums decay by 1 − 1/H a step.
	Memory() (steps uint64, decays bool)

	// RoundedUp returns the scope with the shortest window that a mechanism takes: where it takes powers of two alone, the
	// next one.
	RoundedUp(powers bool) Scope

	// Figures returns the numbers of the scope as decisions, reports and stored forms have them.
	Figures() Figures

	// Ages returns the ages at which a loss is worth printing, in order.
	Ages() []Age

	// Logged returns the ages that one line of a log has room for, in order.
	Logged() []Age

	// BackgroundSteps returns the steps among whose events one of them hides: publishing one of them at random must not be
	// as private as the claim. It is 0 where no number of steps says so.
	BackgroundSteps() uint64

	// Words are what people read of the scope.
	Words() Words

	// Validate checks the numbers by themselves.
	Validate() error

	periods(age uint64) uint64                // windows that so many steps touch: each costs pure ε once
	reached(age uint64, mu, all float64) bool // whether µ at this age is all that the claim is of
	capped() bool                             // whether no age loses more than the claim
	stored(fine bool) []uint64                // ages of a stored loss, never falling; fine: ages within the span too
}

// Figures are the numbers of a scope by the names that formats give them. A number that the scope does not have is 0.
type Figures struct {
	Window  uint64 // W, steps
	Horizon uint64 // T, steps
	Memory  uint64 // H, steps
}

// scopeOf is the inverse of Figures, for stored forms.
func scopeOf(f Figures) Scope {
	switch {
	case f.Memory > 0:
		return Decay{Steps: f.Memory}
	case f.Horizon > 0:
		return Lifetime{Steps: f.Horizon, Within: f.Window}
	case f.Window > 0:
		return Window{Steps: f.Window}
	}
	return PerStep{}
}

// Age is an age that is printed. Spans is 0 where it is no whole number of spans.
type Age struct {
	Spans, Steps uint64
	Name         string // such as "10 W", or "at the end"
	Figure       string // in names of figures, behind "epsilon_": "after_10_windows"
}

// Words are what people read of a scope, in the places that name it.
type Words struct {
	Letter string // of Steps: "W", "H", "T", or empty
	Length string // heads a report: "W = 64 steps"
	Age    string // what a loss of all ages is called: "at every age"; empty where ages differ
	Claim  string // follows "ε = 1 for every event" in a title
	Point  string // follows the claimed ε in a figure
	At     uint64 // the age where it stands; 0: at every one
	Brief  string // follows "against replace of one event" in a transcript

	Promise string // first line of a log
	Key     string // of the log's number of steps; empty: none
	Steps   uint64 // that number: W, H or T
}

// longest is the largest window that is a power of two and that a mechanism takes.
const longest = 1 << 62

// fit returns the shortest window for so many steps. Where a mechanism has none so long it is the steps, which the
// mechanism refuses: never a shorter window.
func fit(steps uint64, powers bool) uint64 {
	if !powers || steps&(steps-1) == 0 || steps > longest {
		return steps
	}
	return 1 << bits.Len64(steps)
}

// spans returns the ages of 1, 10, 100 and 1000 spans. first is the figure of one, many a word for several.
func spans(span uint64, letter, first, many string) []Age {
	ages := []Age{{Spans: 1, Steps: span, Name: letter, Figure: first}}
	for _, k := range []uint64{10, 100, 1000} {
		ages = append(ages, Age{
			Spans: k, Steps: times(k, span), Name: fmt.Sprintf("%d %s", k, letter), Figure: fmt.Sprintf("after_%d_%s", k, many),
		})
	}
	return ages
}
