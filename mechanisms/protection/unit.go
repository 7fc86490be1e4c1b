package protection

import (
	"oriel/mechanisms/dp"
)

// Unit is what is exchanged between two neighbouring streams. Its values are Event and User.
type Unit interface {
	// Name is the word that decisions and settings use.
	Name() string

	// Adjacency says what one event is exchanged for.
	Adjacency() dp.Adjacency

	// AgainstNull reports whether neighbours differ by an event and the null event. Else an event is exchanged for any
	// other or for the null event.
	AgainstNull() bool

	// EventSeparation returns s, and true, where a unit has several events: accepted ones are at least s steps apart.
	EventSeparation() (separation uint64, several bool)

	// ExchangeSteps returns the steps among which the events of a unit are exchanged.
	ExchangeSteps(s Scope) uint64

	// SingleEvent returns the unit of a single event, of the same adjacency.
	SingleEvent() Event

	// Figures returns the numbers of the unit as decisions, reports and stored forms have them.
	Figures() UnitFigures

	// Words are what people read of the unit.
	Words() UnitWords

	// Validate checks the unit by itself, and against the scope that it is protected in; nil where no scope is valid.
	Validate(s Scope) error
}

// UnitFigures are the numbers of a unit by the names that formats give them. A number that it does not have is 0.
type UnitFigures struct {
	Separation uint64 // s, steps
	Among      uint64 // steps, where the scope does not bound them
}

// UnitWords are what people read of a unit.
type UnitWords struct {
	Whose string // follows "ε = 1 for" in a title: "every event"
	Aged  string // whose loss grows with age: "an event"
	Also  string // follows the promise of the scope in a log; may be empty
	Brief string // stands in the place of the scope's in a transcript; may be empty
	Bound string // follows the unit's name in a report: how far apart its events are; may be empty
}

// Event is one event.
type Event struct{ Exchange dp.Adjacency }

// Name returns "event".
func (Event) Name() string { return "event" }

// Adjacency returns the exchange.
func (e Event) Adjacency() dp.Adjacency { return e.Exchange }

// AgainstNull reports zero-out.
func (e Event) AgainstNull() bool { return e.Exchange == dp.ZeroOut }

// EventSeparation returns one event.
func (Event) EventSeparation() (separation uint64, several bool) { return 0, false }

// ExchangeSteps returns the span of the scope.
func (Event) ExchangeSteps(s Scope) uint64 { return s.Span() }

// SingleEvent returns the unit itself.
func (e Event) SingleEvent() Event { return e }

// Figures returns none.
func (Event) Figures() UnitFigures { return UnitFigures{} }

// Words speaks of every event.
func (Event) Words() UnitWords { return UnitWords{Whose: "every event", Aged: "an event"} }

// Validate checks the adjacency.
func (e Event) Validate(Scope) error { return e.Exchange.Validate() }
