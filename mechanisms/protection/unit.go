package protection

import (
	"oriel/mechanisms/dp"
)

// Unit is the part of the stream that neighbouring streams exchange. Its values are Event and User.
type Unit interface {
	// Name returns the word that decisions and settings use.
	Name() string

	// Adjacency returns what one event is exchanged for.
	Adjacency() dp.Adjacency

	// AgainstNull reports whether neighbours differ by an event and the null event. Otherwise an event is exchanged for
	// any other or for the null event.
	AgainstNull() bool

	// EventSeparation returns s, and true, if a unit has several events. Accepted ones are at least s steps apart.
	EventSeparation() (separation uint64, several bool)

	// ExchangeSteps returns the number of steps within which the events of a unit are exchanged.
	ExchangeSteps(s Scope) uint64

	// Figures returns the numbers of the unit that decisions and reports contain.
	Figures() UnitFigures

	// Validate checks the unit by itself and, unless s is nil, together with the scope in which it is protected.
	Validate(s Scope) error
}

// UnitFigures holds the numbers of a unit under the names that formats use. A number that the unit does not have is 0.
type UnitFigures struct {
	Separation uint64 // s, steps
	Among      uint64 // steps within which events are exchanged, if the scope does not bound them
}

// Event is the unit of one event.
type Event struct{ Exchange dp.Adjacency }

func (Event) Name() string              { return "event" }
func (e Event) Adjacency() dp.Adjacency { return e.Exchange }
func (e Event) AgainstNull() bool       { return e.Exchange == dp.ZeroOut }

// EventSeparation returns 0 and false, because the unit has one event.
func (Event) EventSeparation() (separation uint64, several bool) { return 0, false }

func (Event) ExchangeSteps(s Scope) uint64 { return s.Span() }
func (Event) Figures() UnitFigures         { return UnitFigures{} }

// Validate checks the adjacency.
func (e Event) Validate(Scope) error { return e.Exchange.Validate() }
