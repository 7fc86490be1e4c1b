package protection

import (
	"errors"
	"fmt"

	"oriel/mechanisms/dp"
)

// MaxAmong bounds User.Steps, so that programs that parse numbers as float64 read it exactly.
const MaxAmong = 1 << 40

// User is the unit of all events of one user among some steps, each exchanged for any other of the same user id or for
// a null event, under both adjacencies. The caller must ensure that accepted events of one user are at least Separation
// steps apart, and at most one in a step. Acceptance must depend only on user ids and steps, and every refused event
// must become a null event.
type User struct {
	Exchange   dp.Adjacency // adjacency of one event, for the Guarantee of a single event
	Separation uint64       // s ≥ 1, steps
	Steps      uint64       // under a Decay: steps within which a user's events are exchanged, 1 to MaxAmong; otherwise 0
}

func (User) Name() string                                         { return "user" }
func (u User) Adjacency() dp.Adjacency                            { return u.Exchange }
func (User) AgainstNull() bool                                    { return false }
func (u User) EventSeparation() (separation uint64, several bool) { return u.Separation, true }

func (User) StepEvents() uint64 { return 1 }

// Apart returns false, because two events of a user may fall into one cell.
func (User) Apart() bool { return false }

// ExchangeSteps returns the configured steps, or the window of the scope.
func (u User) ExchangeSteps(s Scope) uint64 {
	if u.Steps > 0 {
		return u.Steps
	}
	return s.Span()
}

func (u User) Figures() UnitFigures { return UnitFigures{Separation: u.Separation, Among: u.Steps} }

// Validate checks the numbers. Under a lifetime scope whose stream does not end, the loss of a user who never stops
// sending events has no bound. So the unit must state among how many steps events are exchanged.
func (u User) Validate(s Scope) error {
	errs := []error{u.Exchange.Validate()}
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf("protection: "+format, args...)) }
	if u.Exchange == dp.AddRemove {
		bad("unit user, adjacency add-remove: an absent event moves all later ones into other steps, and separations with them; " +
			"take unit user-period")
	}
	if u.Separation == 0 {
		bad("separation 0: accepted events of one user are one step apart at least")
	}
	if s == nil {
		return errors.Join(errs...)
	}
	_, decays := s.Memory()
	switch {
	case s.Span() == 0:
		bad("unit user: under %s a user's events over a whole life have no bound", s.Name())
	case decays && (u.Steps == 0 || u.Steps > MaxAmong):
		bad("user window %d: not in [1, 2^40]; with a memory no bound holds of a user who comes for ever", u.Steps)
	case !decays && u.Steps > 0:
		bad("user window %d: without a memory the window is the users', too", u.Steps)
	}
	return errors.Join(errs...)
}
