package protection

import (
	"fmt"

	"oriel/mechanisms/dp"
)

// This file presents terms: it has all their words, log keys and JSON names, and the ages that are printed.

// Age is an age that is printed. Spans is 0 if the age is not a multiple of the span.
type Age struct {
	Spans, Steps uint64
	Name         string // for example "10 W", or "at the end"
	Figure       string // figure names end with it after "epsilon_", for example "after_10_windows"
}

// Words holds the texts that describe terms to people, by the place that shows them.
type Words struct {
	Length string // heading of a report, for example "W = 64 steps"
	Age    string // name of the loss at all ages, "at every age"; empty if the loss depends on age
	Claim  string // text after "ε = 1 for" in a title, for example "every event, for ever"
	Brief  string // text after "against replace of one event" in a transcript
	Aged   string // noun for the unit whose loss grows with age, for example "an event"
	Bound  string // text after the unit's name in a report: the sensitivity of its events; may be empty

	Promise string // first line of the promise in a log
	Key     string // log key of Steps; empty: the log has none
	Steps   uint64 // W, H or T

	Ages   []Age // ages at which a loss is worth printing, in order
	Logged []Age // a few of the ages, in order, which fit one line of a log
}

// Words returns the texts that describe the terms.
func (t Terms) Words() Words {
	w := wordsOf(t.Scope)
	whose := "every event"
	w.Aged = "an event"
	switch unit := t.Unit.(type) {
	case User:
		whose = w.ofUser(unit)
	case UserPeriod:
		whose = w.ofUserPeriod(unit)
	case Event:
		if unit.Exchange == dp.AddRemove {
			w.Promise += ", present or absent"
		}
	}
	w.Claim = whose + w.Claim
	return w
}

// ofUser changes the texts to those for the events of a user, and returns whose loss is claimed.
func (w *Words) ofUser(u User) (whose string) {
	whose = "each user's events"
	w.Aged = "the events of a user in one window"
	w.Promise += ", for all events of one user in it, each exchanged for any of the same user id"
	w.Brief = fmt.Sprintf(", whose events are %d steps apart", u.Separation)
	w.Bound = fmt.Sprintf(" (an exchange under both), events of one user at least %s apart", counted(u.Separation))
	if u.Steps > 0 {
		whose += " among any " + counted(u.Steps)
		w.Aged = fmt.Sprintf("the events of a user among any %d steps", u.Steps)
		w.Promise += ", among any user_window_steps"
		w.Claim = ", for ever"
	}
	return whose
}

// ofUserPeriod changes the texts to those for the events of a user in a period, and returns whose loss is claimed.
func (w *Words) ofUserPeriod(u UserPeriod) (whose string) {
	w.Aged = "the events of a user in one period"
	if u.Apart() {
		w.Promise += "; a user counts once for each of the user's first user_period_values values, such as cells, in each period of " +
			"user_period_steps; all records of the period are present, or all absent"
	} else {
		w.Promise += "; a user's first user_period_events records in each period of user_period_steps count, all present or all absent"
	}
	w.Brief = fmt.Sprintf(" among %s of a user in a period of %s", first(u), counted(u.PeriodSteps))
	w.Bound = fmt.Sprintf(", %s of a user in each period of %s", first(u), counted(u.PeriodSteps))
	return "each user's events of any one period of " + counted(u.PeriodSteps)
}

// first returns the number of records or values that count, with its noun.
func first(u UserPeriod) string {
	noun := "record"
	if u.Apart() {
		noun = "value"
	}
	if n := u.StepEvents(); n != 1 {
		return fmt.Sprintf("the first %d %ss", n, noun)
	}
	return "the first " + noun
}

// wordsOf returns the texts that describe a scope. They are the texts of terms whose unit is an event, except Claim,
// which begins after the unit.
func wordsOf(s Scope) Words {
	switch s := s.(type) {
	case Window:
		ages := spans(s.Steps, "W", "within_window", "windows")
		claim := fmt.Sprintf(" among the newest %d steps, more for older ones", s.Steps)
		if s.Steps == 1 {
			claim = " of the newest step"
		}
		return Words{
			Length: "W = " + counted(s.Steps), Claim: claim,
			Brief:   fmt.Sprintf(" of the newest %d steps", s.Steps),
			Promise: "window differential privacy for each stream", Key: "window_steps", Steps: s.Steps,
			Ages: ages, Logged: ages,
		}
	case Decay:
		ages := spans(s.Steps, "H", "after_1_memory", "memories")
		return Words{
			Length:  "for life, memory H = " + counted(s.Steps),
			Claim:   fmt.Sprintf(", for ever, with a memory of %d steps", s.Steps),
			Brief:   fmt.Sprintf(", for life, with a memory of %d steps", s.Steps),
			Promise: "differential privacy of each stream's whole life: sums forget", Key: "memory_steps", Steps: s.Steps,
			Ages: ages, Logged: []Age{
				{Steps: 1, Name: "1", Figure: "after_1_step"}, ages[0], ages[1], {Steps: Endless, Name: "ever", Figure: "ever"},
			},
		}
	case Lifetime:
		ages := []Age{{Steps: s.Steps, Name: "at the end"}}
		length := counted(s.Steps)
		return Words{
			Age: "at every age", Length: "a stream of T = " + length, Claim: " of a stream of " + length,
			Brief:   fmt.Sprintf(" of the newest %d steps", s.Within),
			Promise: "differential privacy of each stream's whole life, which ends at the horizon", Key: "horizon_steps",
			Steps: s.Steps, Ages: ages, Logged: ages,
		}
	}
	ages := []Age{{Steps: 1, Name: "at every age"}} // per-step release: the loss is the same at every age
	return Words{
		Length: "no window", Age: "at every age", Claim: ", for ever",
		Promise: "differential privacy of each stream's whole life: every event is in one release", Ages: ages, Logged: ages,
	}
}

// spans returns the ages of 1, 10, 100 and 1000 spans. first names the figure at one span; many is the plural noun for
// spans.
func spans(span uint64, letter, first, many string) []Age {
	ages := []Age{{Spans: 1, Steps: span, Name: letter, Figure: first}}
	for _, k := range []uint64{10, 100, 1000} {
		ages = append(ages, Age{
			Spans: k, Steps: times(k, span), Name: fmt.Sprintf("%d %s", k, letter), Figure: fmt.Sprintf("after_%d_%s", k, many),
		})
	}
	return ages
}

// Brief returns the terms in a few words, with the scope's duration as clock time, if it is known.
func (t Terms) Brief(clock string) string {
	text := t.Words().Length
	if clock != "" {
		text += " (" + clock + ")"
	}
	unit := t.Unit.Figures()
	if unit.Among > 0 {
		text += fmt.Sprintf(", users' events among any %s", counted(unit.Among))
	}
	if unit.Period > 0 {
		text += fmt.Sprintf(", users' events of one period of %s", counted(unit.Period))
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

// Promise returns the first line of a log, and the numbers that it mentions.
func (t Terms) Promise() (text string, numbers []Member) {
	words, unit := t.Words(), t.Unit.Figures()
	add := func(name string, steps uint64) {
		if steps > 0 {
			numbers = append(numbers, Member{Name: name, Steps: steps})
		}
	}
	add(words.Key, words.Steps)
	add("user_window_steps", unit.Among)
	add("separation_steps", unit.Separation)
	add("user_period_steps", unit.Period)
	add("user_period_events", unit.Events)
	add("user_period_values", unit.Values)
	return words.Promise, numbers
}

// Members returns the numbers that decisions state after the window, if a lifetime guarantee needs them.
func (t Terms) Members() []Member {
	var all []Member
	if steps, decays := t.Scope.Memory(); decays {
		all = append(all, Member{
			"memory", steps, fmt.Sprintf("memory %d", steps),
			"half-life: the weight of a step's data falls by 1/H each step.",
		})
	}
	unit := t.Unit.Figures()
	if unit.Among > 0 {
		all = append(all, Member{
			"user_window", unit.Among, fmt.Sprintf("users' events among any %d steps", unit.Among),
			"Steps: epsilon and delta are of all events of a user among any so many steps, in all decisions there will ever be.",
		})
	}
	if unit.Period == 0 {
		return all
	}
	all = append(all, Member{
		"user_period", unit.Period, "users' events of one period of " + counted(unit.Period),
		"Steps: epsilon and delta are of all events of a user in one period of so many steps, in all decisions there will ever be.",
	})
	words := first(t.Unit.(UserPeriod)) + " of a user in a period"
	if t.Unit.Apart() {
		return append(all, Member{
			"user_values", unit.Values, words, "Values: for how many different values, such as cells, a user counts in a period, once for each.",
		})
	}
	return append(all, Member{
		"user_events", unit.Events, words, "Records: how many of a user's records count in a period.",
	})
}

// Member is a number that decisions or logs state: of steps, of records for user_events, or of values for user_values.
type Member struct {
	Name  string
	Steps uint64
	Words string // the number with its meaning, for people
	Text  string // the text in the JSON Schema of decisions
}

// counted returns a number of steps with its noun.
func counted(n uint64) string {
	if n == 1 {
		return "1 step"
	}
	return fmt.Sprintf("%d steps", n)
}
