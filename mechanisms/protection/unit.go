package protection

import (
	"fmt"

	"oriel/mechanisms/dp"
)

// Unit is the part of the stream in which neighbouring streams differ. Its values are Event, User and UserPeriod.
type Unit interface {
	// Name returns the word that decisions and settings use.
	Name() string

	// Adjacency returns what one event is exchanged for.
	Adjacency() dp.Adjacency

	// AgainstNull reports whether an event of one stream stands against no contribution in the other: against the null
	// event, or under dp.AddRemove against no event. Then one event moves a sum by at most the largest norm of a
	// contribution. Otherwise an event is exchanged for any other or for the null event.
	AgainstNull() bool

	// EventSeparation returns s, and true, if a unit has several events. Accepted ones are at least s steps apart; s is 0
	// if they may all be in one step.
	EventSeparation() (separation uint64, several bool)

	// StepEvents returns the largest number of contributions to one step that a unit may have.
	StepEvents() uint64

	// Apart reports whether no two contributions of a unit have a coordinate of one step in common. So the squares of
	// their norms add up, and not the norms (PROOF.md, Theorem 15).
	Apart() bool

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
	Period     uint64 // steps of a period of a UserPeriod
	Events     uint64 // k, events of a user that count in a period
	Values     uint64 // m, different values of a user that count in a period
}

// Event is the unit of one event: exchanged for another, or under dp.AddRemove present or absent.
type Event struct{ Exchange dp.Adjacency }

func (Event) Name() string              { return "event" }
func (e Event) Adjacency() dp.Adjacency { return e.Exchange }
func (e Event) AgainstNull() bool       { return e.Exchange == dp.ZeroOut || e.Exchange == dp.AddRemove }

// EventSeparation returns 0 and false, because the unit has one event.
func (Event) EventSeparation() (separation uint64, several bool) { return 0, false }

func (Event) StepEvents() uint64           { return 1 }
func (Event) Apart() bool                  { return false }
func (Event) ExchangeSteps(s Scope) uint64 { return s.Span() }
func (Event) Figures() UnitFigures         { return UnitFigures{} }

// Validate checks the adjacency, and refuses presence and absence in a scope whose steps are places in a log.
func (e Event) Validate(s Scope) error {
	if err := e.Exchange.Validate(); err != nil || e.Exchange != dp.AddRemove {
		return err
	}
	return presentOrAbsent(e, s)
}

// presentOrAbsent refuses a scope in which a unit cannot be present in one stream and absent in the other. Only under
// PerStep no other release can depend on the unit. In the sums of all other scopes a step is a number of records, so an
// absent record moves every later one into another place.
func presentOrAbsent(u Unit, s Scope) error {
	if s == nil || s == (PerStep{}) {
		return nil
	}
	return fmt.Errorf("protection: unit %s, adjacency add-remove: under scope %s steps are closed by a number of records, so an "+
		"absent record moves all later ones; only per-step release has steps whose records are not counted", u.Name(), s.Name())
}
