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

// Claim returns the protected unit and the duration, the text after "ε = 1 for" in a title.
func (t Terms) Claim() string {
	if t.Unit.Figures().Among > 0 {
		return t.Unit.Words().Whose + ", for ever"
	}
	return t.Unit.Words().Whose + t.Scope.Words().Claim
}

// Brief returns the terms in a few words, with the scope's duration as clock time, if it is known.
func (t Terms) Brief(clock string) string {
	text := t.Scope.Words().Length
	if clock != "" {
		text += " (" + clock + ")"
	}
	if among := t.Unit.Figures().Among; among > 0 {
		text += fmt.Sprintf(", users' events among any %s", counted(among, "step"))
	}
	return text
}

// AnyOf returns the subject of the claim, using the noun for an event, for example "any one of the newest 64 flights".
func (t Terms) AnyOf(noun string) string {
	if t.Scope.ForLife() {
		return "any one " + noun
	}
	return fmt.Sprintf("any one of the newest %d %ss", t.Scope.Span(), noun)
}

// Short returns the steps of the scope with their letter, short enough for a label, for example "W = 64", or "".
func (t Terms) Short() string {
	words := t.Scope.Words()
	if words.Letter == "" {
		return ""
	}
	return fmt.Sprintf("%s = %d", words.Letter, words.Steps)
}

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

// Promise returns the first line of a log, and the numbers that it mentions.
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

// Members returns the numbers that decisions state after the window, if a lifetime guarantee needs them.
func (t Terms) Members() []Member {
	var all []Member
	if steps, decays := t.Scope.Memory(); decays {
		all = append(all, Member{
			"memory", steps, fmt.Sprintf("memory %d", steps),
			"H: what a step says counts for 1 − 1/H of it a step later.",
		})
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
	Words string // the number with its meaning, for people
	Text  string // the text in the JSON Schema of decisions
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

// counted returns a number with its noun, in the singular or plural.
func counted(n uint64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// Details returns the numbers that the claim does not state: the length of the memory, and the steps between the events
// of a unit.
func (t Terms) Details() []string {
	var all []string
	if memory, decays := t.Scope.Memory(); decays && t.Unit.Figures().Among > 0 {
		all = append(all, "a memory of "+counted(memory, "step"))
	}
	if separation, several := t.Unit.EventSeparation(); several {
		all = append(all, fmt.Sprintf("a %s's events ≥ %s apart", t.Unit.Name(), counted(separation, "step")))
	}
	return all
}
