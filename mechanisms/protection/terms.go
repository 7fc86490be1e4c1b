package protection

import (
	"errors"
	"fmt"
)

// Terms name the unit that is protected, and for how long.
type Terms struct {
	Scope Scope
	Unit  Unit
}

// ExchangeSteps returns the steps among which the events of one unit are exchanged.
func (t Terms) ExchangeSteps() uint64 { return t.Unit.ExchangeSteps(t.Scope) }

// Windowed returns the terms nearest to t that a mechanism of prefix sums accepts, and a note on the difference. If t
// is acceptable, it returns t.
func (t Terms) Windowed() (nearest Terms, note string) {
	memory, decays := t.Scope.Memory()
	if !decays {
		return t, ""
	}
	if user, is := t.Unit.(User); is {
		window := Window{Steps: user.Steps}
		user.Steps = 0
		return Terms{window, user}, fmt.Sprintf("prefix sums, and a window of %d steps, that of users", window.Steps)
	}
	note = fmt.Sprintf("prefix sums, and a window of %d steps, as long as the memory", memory)
	return Terms{Window{Steps: memory}, t.Unit}, note
}

// Validate reports every problem of the scope, of the unit, and of their combination.
func (t Terms) Validate() error {
	scope, err := t.Scope, error(nil)
	if scope == nil {
		err = errors.New("protection: no scope: for how long events are protected has no default")
	} else if err = scope.Validate(); err != nil {
		scope = nil
	}
	if t.Unit == nil {
		return errors.Join(err, errors.New("protection: no unit: who is protected has no default"))
	}
	return errors.Join(err, t.Unit.Validate(scope))
}
