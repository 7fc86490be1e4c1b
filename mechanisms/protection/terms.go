package protection

import (
	"errors"
	"fmt"
)

// Terms are who is protected, and for how long.
type Terms struct {
	Scope Scope
	Unit  Unit
}

// Among returns the steps among which the events of one unit are exchanged.
func (t Terms) Among() uint64 { return t.Unit.Among(t.Scope) }

// Promise returns the first line of a log, and the numbers that it speaks of.
func (t Terms) Promise() (text string, numbers []Member) {
	scope, unit := t.Scope.Words(), t.Unit.Figures()
	add := func(name string, steps uint64) {
		if steps > 0 {
			numbers = append(numbers, Member{Name: name, Steps: steps})
		}
	}
	add(scope.Key, scope.Steps)
	add("user_window_steps", unit.Among)
	add("separation_steps", unit.Separation)
	return scope.Promise + t.Unit.Words().Also, numbers
}

// Members are the numbers that decisions state behind the window, where what holds for ever needs them.
func (t Terms) Members() []Member {
	var all []Member
	if steps, decays := t.Scope.Memory(); decays {
		all = append(all, Member{"memory", steps, fmt.Sprintf("memory %d", steps), "H: what a step says counts for 1 − 1/H of it a step later."})
	}
	if steps := t.Unit.Figures().Among; steps > 0 {
		all = append(all, Member{
			"user_window", steps, fmt.Sprintf("users' events among any %d steps", steps),
			"Steps: epsilon and delta are of all events of a user among any so many steps, in all decisions there will ever be.",
		})
	}
	return all
}

// Member is a number that decisions or logs state.
type Member struct {
	Name  string
	Steps uint64
	Words string // for people: the number and what it is
	Text  string // for the schema of decisions
}

// Validate reports every problem of the scope, of the unit, and of both together.
func (t Terms) Validate() error {
	if t.Scope == nil || t.Unit == nil {
		return errors.New("protection: no scope or no unit: privacy has no default")
	}
	if err := t.Scope.Validate(); err != nil {
		return errors.Join(err, t.Unit.One().Validate(t.Scope))
	}
	return t.Unit.Validate(t.Scope)
}

// counted writes a number with its noun.
func counted(n uint64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
