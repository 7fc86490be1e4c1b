package protection

import (
	"cmp"
	"reflect"
	"slices"
	"strings"
	"testing"

	"oriel/mechanisms/dp"
)

// TestUnitsReturnTheirFigures compares the methods of each unit with results written by hand.
func TestUnitsReturnTheirFigures(t *testing.T) {
	scope := Window{12}
	for _, w := range []struct {
		unit       Unit
		name       string
		exchange   dp.Adjacency
		null       bool
		separation uint64
		several    bool
		inStep     uint64 // StepEvents; 0: 1
		apart      bool
		among      uint64
		figures    UnitFigures
		words      Words // the texts that differ from those of wordsOf
	}{
		{
			unit: Event{dp.Replace}, name: "event", exchange: dp.Replace, among: 12,
			words: Words{Claim: "every event among the newest 12 steps, more for older ones", Aged: "an event"},
		},
		{
			unit: Event{dp.ZeroOut}, name: "event", exchange: dp.ZeroOut, null: true, among: 12,
			words: Words{Claim: "every event among the newest 12 steps, more for older ones", Aged: "an event"},
		},
		{
			unit: Event{dp.AddRemove}, name: "event", exchange: dp.AddRemove, null: true, among: 12,
			words: Words{
				Claim: "every event among the newest 12 steps, more for older ones", Aged: "an event",
				Promise: ", present or absent",
			},
		},
		{
			unit: UserPeriod{PeriodSteps: 24, Events: 3}, name: "user-period", exchange: dp.AddRemove, null: true, several: true,
			inStep: 3, among: 24, figures: UnitFigures{Period: 24, Events: 3},
			words: Words{
				Claim: "each user's events of any one period of 24 steps among the newest 12 steps, more for older ones",
				Aged:  "the events of a user in one period",
				Promise: "; a user's first user_period_events records in each period of user_period_steps count, all present or all " +
					"absent",
				Brief: " among the first 3 records of a user in a period of 24 steps",
				Bound: ", the first 3 records of a user in each period of 24 steps",
			},
		},
		{
			unit: UserPeriod{PeriodSteps: 24, Values: 2}, name: "user-period", exchange: dp.AddRemove, null: true, several: true,
			inStep: 2, among: 24, figures: UnitFigures{Period: 24, Values: 2}, apart: true,
			words: Words{
				Claim: "each user's events of any one period of 24 steps among the newest 12 steps, more for older ones",
				Aged:  "the events of a user in one period",
				Promise: "; a user counts once for each of the user's first user_period_values values, such as cells, in each period of " +
					"user_period_steps; all records of the period are present, or all absent",
				Brief: " among the first 2 values of a user in a period of 24 steps",
				Bound: ", the first 2 values of a user in each period of 24 steps",
			},
		},
		{
			unit: User{Exchange: dp.ZeroOut, Separation: 3}, name: "user", exchange: dp.ZeroOut, separation: 3, several: true,
			among: 12, figures: UnitFigures{Separation: 3},
			words: Words{
				Claim:   "each user's events among the newest 12 steps, more for older ones",
				Aged:    "the events of a user in one window",
				Promise: ", for all events of one user in it, each exchanged for any of the same user id",
				Brief:   ", whose events are 3 steps apart",
				Bound:   " (an exchange under both), events of one user at least 3 steps apart",
			},
		},
		{
			unit: User{Exchange: dp.Replace, Separation: 1, Steps: 20}, name: "user", exchange: dp.Replace, separation: 1,
			several: true, among: 20, figures: UnitFigures{Separation: 1, Among: 20},
			words: Words{
				Claim: "each user's events among any 20 steps, for ever", Aged: "the events of a user among any 20 steps",
				Promise: ", for all events of one user in it, each exchanged for any of the same user id, among any " +
					"user_window_steps",
				Brief: ", whose events are 1 steps apart",
				Bound: " (an exchange under both), events of one user at least 1 step apart",
			},
		},
	} {
		u := w.unit
		f := func(what string, got, want any) {
			t.Helper()
			if got != want {
				t.Errorf("%+v: %s is %+v, want %+v", u, what, got, want)
			}
		}
		f("Name", u.Name(), w.name)
		f("Adjacency", u.Adjacency(), w.exchange)
		f("AgainstNull", u.AgainstNull(), w.null)
		separation, several := u.EventSeparation()
		f("separation", separation, w.separation)
		f("whether there are several events", several, w.several)
		f("StepEvents", u.StepEvents(), max(w.inStep, 1))
		f("Apart", u.Apart(), w.apart)
		f("Among", u.ExchangeSteps(scope), w.among)
		f("Figures", u.Figures(), w.figures)
		words := Terms{scope, u}.Words()
		f("Claim", words.Claim, w.words.Claim)
		f("Aged", words.Aged, w.words.Aged)
		f("Promise", words.Promise, wordsOf(scope).Promise+w.words.Promise)
		f("Brief", words.Brief, cmp.Or(w.words.Brief, wordsOf(scope).Brief))
		f("Bound", words.Bound, w.words.Bound)
		f("Validate", u.Validate(nil), nil)
	}
}

func TestTermsReturnTheirTexts(t *testing.T) {
	user, member := User{Exchange: dp.Replace, Separation: 3, Steps: 20}, User{Exchange: dp.Replace, Separation: 3}
	memoryText := "half-life: the weight of a step's data falls by 1/H each step."
	usersText := "Steps: epsilon and delta are of all events of a user among any so many steps, in all decisions there will ever be."
	for _, w := range []struct {
		terms               Terms
		among               uint64
		claim, brief, timed string
		anyone, promise     string
		numbers, members    []Member
		nearest             Terms
		note                string
	}{
		{
			terms: Terms{Window{12}, event}, among: 12,
			claim: "every event among the newest 12 steps, more for older ones", brief: "W = 12 steps",
			timed: "W = 12 steps (1 h)", anyone: "any one of the newest 12 flights",
			promise: "window differential privacy for each stream", numbers: []Member{{Name: "window_steps", Steps: 12}},
			nearest: Terms{Window{12}, event},
		},
		{
			terms: Terms{Window{12}, member}, among: 12,
			claim: "each user's events among the newest 12 steps, more for older ones", brief: "W = 12 steps",
			timed: "W = 12 steps (1 h)", anyone: "any one of the newest 12 flights",
			promise: "window differential privacy for each stream, for all events of one user in it, each exchanged for any " +
				"of the same user id",
			numbers: []Member{{Name: "window_steps", Steps: 12}, {Name: "separation_steps", Steps: 3}},
			nearest: Terms{Window{12}, member},
		},
		{
			terms: Terms{Decay{64}, event}, among: 64, claim: "every event, for ever, with a memory of 64 steps",
			brief: "for life, memory H = 64 steps", timed: "for life, memory H = 64 steps (1 h)", anyone: "any one flight",
			promise: "differential privacy of each stream's whole life: sums forget",
			numbers: []Member{{Name: "memory_steps", Steps: 64}}, members: []Member{{"memory", 64, "memory 64", memoryText}},
			nearest: Terms{Window{64}, event}, note: "prefix sums, and a window of 64 steps, as long as the memory",
		},
		{
			terms: Terms{Decay{64}, user}, among: 20, claim: "each user's events among any 20 steps, for ever",
			brief:  "for life, memory H = 64 steps, users' events among any 20 steps",
			timed:  "for life, memory H = 64 steps (1 h), users' events among any 20 steps",
			anyone: "any one flight",
			promise: "differential privacy of each stream's whole life: sums forget, for all events of one user in it, each " +
				"exchanged for any of the same user id, among any user_window_steps",
			numbers: []Member{
				{Name: "memory_steps", Steps: 64}, {Name: "user_window_steps", Steps: 20}, {Name: "separation_steps", Steps: 3},
			},
			members: []Member{
				{"memory", 64, "memory 64", memoryText}, {"user_window", 20, "users' events among any 20 steps", usersText},
			},
			nearest: Terms{Window{20}, member}, note: "prefix sums, and a window of 20 steps, that of users",
		},
		{
			terms: Terms{Lifetime{9, 16}, event}, among: 16, claim: "every event of a stream of 9 steps",
			brief: "a stream of T = 9 steps", timed: "a stream of T = 9 steps (1 h)", anyone: "any one flight",
			promise: "differential privacy of each stream's whole life, which ends at the horizon",
			numbers: []Member{{Name: "horizon_steps", Steps: 9}}, nearest: Terms{Lifetime{9, 16}, event},
		},
		{
			terms: Terms{PerStep{}, event}, claim: "every event, for ever", brief: "no window", timed: "no window (1 h)",
			anyone: "any one flight", promise: "differential privacy of each stream's whole life: every event is in one release",
			nearest: Terms{PerStep{}, event},
		},
		{
			terms: Terms{PerStep{}, Event{dp.AddRemove}}, claim: "every event, for ever", brief: "no window",
			timed: "no window (1 h)", anyone: "any one flight",
			promise: "differential privacy of each stream's whole life: every event is in one release, present or absent",
			nearest: Terms{PerStep{}, Event{dp.AddRemove}},
		},
		{
			terms: Terms{PerStep{}, UserPeriod{PeriodSteps: 24, Events: 1}}, among: 24,
			claim:  "each user's events of any one period of 24 steps, for ever",
			brief:  "no window, users' events of one period of 24 steps",
			timed:  "no window (1 h), users' events of one period of 24 steps",
			anyone: "any one flight",
			promise: "differential privacy of each stream's whole life: every event is in one release; a user's first " +
				"user_period_events records in each period of user_period_steps count, all present or all absent",
			numbers: []Member{{Name: "user_period_steps", Steps: 24}, {Name: "user_period_events", Steps: 1}},
			members: []Member{
				{
					"user_period", 24, "users' events of one period of 24 steps",
					"Steps: epsilon and delta are of all events of a user in one period of so many steps, in all decisions there will ever be.",
				},
				{
					"user_events", 1, "the first record of a user in a period",
					"Records: how many of a user's records count in a period.",
				},
			},
			nearest: Terms{PerStep{}, UserPeriod{PeriodSteps: 24, Events: 1}},
		},
	} {
		f := func(what string, got, want any) {
			t.Helper()
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%+v: %s is %+v, want %+v", w.terms, what, got, want)
			}
		}
		f("Among", w.terms.ExchangeSteps(), w.among)
		f("Claim", w.terms.Words().Claim, w.claim)
		f("Brief", w.terms.Brief(""), w.brief)
		f("Brief by the clock", w.terms.Brief("1 h"), w.timed)
		f("Anyone", w.terms.AnyOf("flight"), w.anyone)
		promise, numbers := w.terms.Promise()
		f("Promise", promise, w.promise)
		f("numbers of the promise", numbers, w.numbers)
		f("Members", w.terms.Members(), w.members)
		nearest, note := w.terms.Windowed()
		f("nearest terms of prefix sums", nearest, w.nearest)
		f("note on them", note, w.note)
		if err := w.terms.Validate(); err != nil {
			t.Error(err)
		}
		if err := nearest.Validate(); err != nil {
			t.Error(err)
		}
	}
}

// TestUsersAmongOneStep checks that a User whose events are exchanged within one step works like a User of several
// steps.
func TestUsersAmongOneStep(t *testing.T) {
	terms := Terms{Decay{1}, User{Exchange: dp.Replace, Separation: 1, Steps: 1}}
	if got := terms.ExchangeSteps(); got != 1 {
		t.Errorf("events among %d steps", got)
	}
	if got := terms.Words().Claim; got != "each user's events among any 1 step, for ever" {
		t.Error(got)
	}
	if got := terms.Brief(""); got != "for life, memory H = 1 step, users' events among any 1 step" {
		t.Error(got)
	}
	if got := terms.Members(); len(got) != 2 || got[1].Steps != 1 {
		t.Errorf("%+v", got)
	}
	if _, got := terms.Promise(); len(got) != 3 || got[1] != (Member{Name: "user_window_steps", Steps: 1}) {
		t.Errorf("%+v", got)
	}
	if nearest, _ := terms.Windowed(); nearest != (Terms{Window{1}, User{Exchange: dp.Replace, Separation: 1}}) {
		t.Errorf("%+v", nearest)
	}
}

func TestTermsRefuse(t *testing.T) {
	user := func(separation, steps uint64) User {
		return User{Exchange: dp.Replace, Separation: separation, Steps: steps}
	}
	for _, c := range []struct {
		terms Terms
		want  []string // all expected problems, one per line
	}{
		{Terms{}, []string{"protection: no scope", "protection: no unit"}},
		{Terms{Scope: Window{8}}, []string{"protection: no unit"}},
		{Terms{Unit: event}, []string{"protection: no scope"}},
		{Terms{Unit: user(0, 0)}, []string{"protection: no scope", "protection: separation 0"}},
		{Terms{Window{}, Event{}}, []string{"protection: window 0", "dp: adjacency 0"}},
		{Terms{Window{}, User{}}, []string{"protection: window 0", "dp: adjacency 0", "protection: separation 0"}},
		{Terms{Window{8}, Event{4}}, []string{"dp: adjacency 4"}},
		{Terms{Window{8}, Event{dp.AddRemove}}, []string{"protection: unit event, adjacency add-remove: under scope window"}},
		{Terms{Decay{8}, Event{dp.AddRemove}}, []string{"protection: unit event, adjacency add-remove: under scope decay"}},
		{Terms{Lifetime{8, 8}, Event{dp.AddRemove}}, []string{"protection: unit event, adjacency add-remove: under scope lifetime"}},
		{Terms{Window{8}, UserPeriod{1, 1, 0}}, []string{"protection: unit user-period, adjacency add-remove: under scope window"}},
		{Terms{Decay{8}, UserPeriod{1, 1, 0}}, []string{"protection: unit user-period, adjacency add-remove: under scope decay"}},
		{Terms{Lifetime{8, 8}, UserPeriod{1, 1, 0}}, []string{"protection: unit user-period, adjacency add-remove: under scope lifetime"}},
		{Terms{PerStep{}, UserPeriod{0, 1, 0}}, []string{"protection: unit user-period: period 0: not in [1, 2^40]"}},
		{Terms{PerStep{}, UserPeriod{1, 0, 0}}, []string{"protection: unit user-period: events 0: not in [1, 2^40]"}},
		{Terms{PerStep{}, UserPeriod{1, 2, 2}}, []string{"protection: unit user-period: 2 events and 2 values: one of them must be 0"}},
		{Terms{PerStep{}, UserPeriod{1, 0, 1<<40 + 1}}, []string{"protection: unit user-period: values 1099511627777"}},
		{Terms{PerStep{}, UserPeriod{1<<40 + 1, 1<<40 + 1, 0}}, []string{
			"protection: unit user-period: period 1099511627777", "protection: unit user-period: events 1099511627777",
		}},
		{Terms{Window{8}, User{Exchange: dp.AddRemove, Separation: 1}}, []string{
			"protection: unit user, adjacency add-remove",
		}},
		{Terms{PerStep{}, User{Exchange: dp.AddRemove, Separation: 1}}, []string{
			"protection: unit user, adjacency add-remove", "protection: unit user: under per-step release",
		}},
		{Terms{nil, UserPeriod{}}, []string{
			"protection: no scope", "protection: unit user-period: period 0", "protection: unit user-period: events 0",
		}},
		{Terms{Window{8}, user(0, 0)}, []string{"protection: separation 0"}},
		{Terms{Window{8}, user(1, 8)}, []string{"protection: user window 8: without a memory"}},
		{Terms{Lifetime{8, 8}, user(1, 8)}, []string{"protection: user window 8: without a memory"}},
		{Terms{Window{8}, user(1, 1)}, []string{"protection: user window 1: without a memory"}},
		{Terms{Lifetime{9, 8}, event}, []string{"protection: horizon 9: not in [1, 8]"}},
		{Terms{Lifetime{0, 8}, event}, []string{"protection: horizon 0: not in [1, 8]"}},
		{Terms{Decay{}, event}, []string{"protection: memory 0"}},
		{Terms{Decay{8}, user(1, 0)}, []string{"protection: user window 0: not in [1, 2^40]"}},
		{Terms{Decay{8}, user(1, 1<<40+1)}, []string{"protection: user window 1099511627777: not in [1, 2^40]"}},
		{Terms{Decay{8}, user(0, 0)}, []string{"protection: separation 0", "protection: user window 0: not in [1, 2^40]"}},
		{Terms{PerStep{}, user(1, 0)}, []string{"protection: unit user: under per-step release"}},
		{Terms{PerStep{}, user(1, 8)}, []string{"protection: unit user: under per-step release"}},
	} {
		err := c.terms.Validate()
		if err == nil {
			t.Errorf("%+v is taken", c.terms)
			continue
		}
		lines := strings.Split(err.Error(), "\n")
		if !slices.EqualFunc(lines, c.want, strings.HasPrefix) {
			t.Errorf("%+v: %q, want %q", c.terms, lines, c.want)
		}
	}
	for _, good := range []Terms{
		{Window{1}, event},
		{Decay{1}, Event{dp.ZeroOut}},
		{Lifetime{1, 1}, event},
		{PerStep{}, event},
		{PerStep{}, Event{dp.AddRemove}},
		{PerStep{}, UserPeriod{1, 1, 0}},
		{PerStep{}, UserPeriod{1 << 40, 1 << 40, 0}},
		{PerStep{}, UserPeriod{1, 0, 1 << 40}},
		{Window{8}, user(100, 0)},
		{Lifetime{1, 8}, user(1, 0)},
		{Decay{8}, user(1, 1)},
		{Decay{8}, user(1, 1<<40)},
	} {
		if err := good.Validate(); err != nil {
			t.Errorf("%+v: %v", good, err)
		}
	}
}
