package protection

import (
	"math"
	"reflect"
	"regexp"
	"strings"
	"testing"
)

// answers lists the expected results of a scope's methods.
type answers struct {
	scope        Scope
	name         string
	span, end    uint64
	life         bool
	memory       uint64 // H; 0: sums do not decay
	figures      Figures
	plain, power Scope // RoundedUp of the scope
	ages, logged []Age
	background   uint64
	words        Words
	capped       bool
	periods      map[uint64]uint64 // expected number of windows, by age
	reached      map[uint64]bool   // expected answer by age, at a µ below the claim's
	problem      Scope             // a scope that Validate must refuse
	refused      string
}

func allAnswers() []answers {
	once := []Age{{Steps: 1, Name: "at every age"}}
	end := []Age{{Steps: 9, Name: "at the end"}}
	return []answers{
		{
			scope: Window{12}, name: "window", span: 12, end: math.MaxUint64, figures: Figures{Window: 12},
			plain: Window{12}, power: Window{16},
			ages: []Age{
				{1, 12, "W", "within_window"},
				{10, 120, "10 W", "after_10_windows"},
				{100, 1200, "100 W", "after_100_windows"},
				{1000, 12_000, "1000 W", "after_1000_windows"},
			},
			logged: []Age{
				{1, 12, "W", "within_window"},
				{10, 120, "10 W", "after_10_windows"},
				{100, 1200, "100 W", "after_100_windows"},
				{1000, 12_000, "1000 W", "after_1000_windows"},
			},
			background: 12,
			words: Words{
				Length: "W = 12 steps", Claim: " among the newest 12 steps, more for older ones",
				Brief: " of the newest 12 steps", Promise: "window differential privacy for each stream",
				Key: "window_steps", Steps: 12,
			},
			periods: map[uint64]uint64{1: 1, 12: 1, 13: 2, 24: 2, 25: 3},
			reached: map[uint64]bool{11: false, 12: true, 13: false},
			problem: Window{}, refused: "window 0",
		},
		{
			scope: Window{1}, name: "window", span: 1, end: math.MaxUint64, figures: Figures{Window: 1},
			plain: Window{1}, power: Window{1},
			ages: []Age{
				{1, 1, "W", "within_window"},
				{10, 10, "10 W", "after_10_windows"},
				{100, 100, "100 W", "after_100_windows"},
				{1000, 1000, "1000 W", "after_1000_windows"},
			},
			logged: []Age{
				{1, 1, "W", "within_window"},
				{10, 10, "10 W", "after_10_windows"},
				{100, 100, "100 W", "after_100_windows"},
				{1000, 1000, "1000 W", "after_1000_windows"},
			},
			background: 1,
			words: Words{
				Length: "W = 1 step", Claim: " of the newest step",
				Brief: " of the newest 1 steps", Promise: "window differential privacy for each stream",
				Key: "window_steps", Steps: 1,
			},
			periods: map[uint64]uint64{1: 1, 2: 2, 7: 7},
			reached: map[uint64]bool{1: true, 2: false},
			problem: Window{}, refused: "window 0",
		},
		{
			scope: Decay{64}, name: "decay", span: 64, end: math.MaxUint64, life: true, memory: 64,
			figures: Figures{Memory: 64}, plain: Decay{64}, power: Decay{64},
			ages: []Age{
				{1, 64, "H", "after_1_memory"},
				{10, 640, "10 H", "after_10_memories"},
				{100, 6400, "100 H", "after_100_memories"},
				{1000, 64_000, "1000 H", "after_1000_memories"},
			},
			logged: []Age{
				{0, 1, "1", "after_1_step"},
				{1, 64, "H", "after_1_memory"},
				{10, 640, "10 H", "after_10_memories"},
				{0, math.MaxUint64, "ever", "ever"},
			},
			words: Words{
				Length: "for life, memory H = 64 steps", Claim: ", for ever, with a memory of 64 steps",
				Brief:   ", for life, with a memory of 64 steps",
				Promise: "differential privacy of each stream's whole life: sums forget", Key: "memory_steps", Steps: 64,
			},
			capped:  true,
			periods: map[uint64]uint64{1: 1, 64: 1, 65: 1, 1 << 40: 1},
			reached: map[uint64]bool{1: false, 64: false, math.MaxUint64: false},
			problem: Decay{}, refused: "memory 0",
		},
		{
			scope: Lifetime{9, 16}, name: "lifetime", span: 16, end: 9, life: true, figures: Figures{Window: 16, Horizon: 9},
			plain: Lifetime{9, 9}, power: Lifetime{9, 16}, ages: end, logged: end, background: 9,
			words: Words{
				Length: "a stream of T = 9 steps", Age: "at every age", Claim: " of a stream of 9 steps",
				Brief:   " of the newest 16 steps",
				Promise: "differential privacy of each stream's whole life, which ends at the horizon", Key: "horizon_steps",
				Steps: 9,
			},
			periods: map[uint64]uint64{1: 1, 9: 1, 16: 1},
			reached: map[uint64]bool{1: false, 9: false, 16: true},
			problem: Lifetime{9, 8}, refused: "horizon 9: not in [1, 8]",
		},
		{
			scope: Lifetime{1, 1}, name: "lifetime", span: 1, end: 1, life: true, figures: Figures{Window: 1, Horizon: 1},
			plain: Lifetime{1, 1}, power: Lifetime{1, 1}, ages: []Age{{0, 1, "at the end", ""}},
			logged: []Age{{0, 1, "at the end", ""}}, background: 1,
			words: Words{
				Length: "a stream of T = 1 step", Age: "at every age", Claim: " of a stream of 1 step",
				Brief:   " of the newest 1 steps",
				Promise: "differential privacy of each stream's whole life, which ends at the horizon", Key: "horizon_steps",
				Steps: 1,
			},
			periods: map[uint64]uint64{1: 1},
			reached: map[uint64]bool{1: true},
			problem: Lifetime{0, 8}, refused: "horizon 0: not in [1, 8]",
		},
		{
			scope: PerStep{}, name: "per-step release", end: math.MaxUint64, life: true, plain: PerStep{}, power: PerStep{},
			ages: once, logged: once,
			words: Words{
				Length: "no window", Age: "at every age", Claim: ", for ever",
				Promise: "differential privacy of each stream's whole life: every event is in one release",
			},
			periods: map[uint64]uint64{1: 1, 2: 1, math.MaxUint64: 1},
			reached: map[uint64]bool{1: true, 2: true},
		},
	}
}

func TestScopesReturnTheirFigures(t *testing.T) {
	for _, w := range allAnswers() {
		s := w.scope
		f := func(what string, got, want any) {
			t.Helper()
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%+v: %s is %+v, want %+v", s, what, got, want)
			}
		}
		f("Name", s.Name(), w.name)
		f("Span", s.Span(), w.span)
		f("End", s.End(), w.end)
		f("ForLife", s.ForLife(), w.life)
		memory, decays := s.Memory()
		f("Memory", memory, w.memory)
		f("whether sums decay", decays, w.memory > 0)
		f("Figures", s.Figures(), w.figures)
		f("Fitted", s.RoundedUp(false), w.plain)
		f("Fitted to a power of two", s.RoundedUp(true), w.power)
		words := wordsOf(s)
		f("Ages", words.Ages, w.ages)
		f("Logged", words.Logged, w.logged)
		words.Ages, words.Logged = nil, nil
		f("BackgroundSteps", s.BackgroundSteps(), w.background)
		f("Words", words, w.words)
		f("capped", s.capped(), w.capped)
		for age, want := range w.periods {
			f("periods", s.periods(age), want)
		}
		for age, want := range w.reached {
			f("reached", s.reached(age, 0.5, 1), want)
		}
		f("Validate", s.Validate(), nil)
		if w.problem != nil {
			if err := w.problem.Validate(); err == nil || !strings.HasPrefix(err.Error(), "protection: "+w.refused) {
				t.Errorf("%+v: %v", w.problem, err)
			}
		}
	}
	// A decay has reached its full loss once µ equals the claim's µ. No other scope depends on µ.
	if d := (Decay{64}); !d.reached(3, 1, 1) || !d.reached(3, 2, 1) || d.reached(1<<40, 0.999, 1) {
		t.Error("a decay at the µ of its claim")
	}
	if (Window{12}).reached(3, 2, 1) || (Lifetime{9, 16}).reached(3, 2, 1) {
		t.Error("a window is reached by its µ")
	}
}

// TestScopesAgreeWithThemselves checks that the methods of a scope are consistent: ages rise and stay within the
// stream, and words name the numbers.
func TestScopesAgreeWithThemselves(t *testing.T) {
	scopes := []Scope{Window{math.MaxUint64}, Decay{math.MaxUint64}, Lifetime{1 << 62, 1 << 63}, Decay{1}, Decay{2}}
	for _, w := range allAnswers() {
		scopes = append(scopes, w.scope)
	}
	for _, s := range scopes {
		words := wordsOf(s)
		for what, ages := range map[string][]Age{"Ages": words.Ages, "Logged": words.Logged} {
			before := uint64(0)
			for _, a := range ages {
				if a.Steps < before || a.Steps > s.End() || a.Name == "" || a.Steps == 0 {
					t.Errorf("%+v: %s: %+v after %d steps", s, what, a, before)
				}
				if a.Spans > 0 && a.Spans*s.Span()/a.Spans == s.Span() && a.Steps != a.Spans*s.Span() {
					t.Errorf("%+v: %s: %+v is not of so many spans", s, what, a)
				}
				before = a.Steps
			}
			if len(ages) == 0 {
				t.Errorf("%+v: no %s", s, what)
			}
		}
		if words.Length == "" || words.Claim == "" || words.Promise == "" ||
			(words.Key == "") != (words.Steps == 0) || (words.Key == "") != (s.Span() == 0) {
			t.Errorf("%+v: words %+v", s, words)
		}
		if s.BackgroundSteps() > s.Span() || s.End() < s.BackgroundSteps() || !s.ForLife() && s.End() != Endless {
			t.Errorf("%+v: one of %d steps' events, of a stream of %d", s, s.BackgroundSteps(), s.End())
		}
		if _, decays := s.Memory(); decays && !s.ForLife() {
			t.Errorf("%+v: decays, and its loss grows for ever", s)
		}
		if again := s.RoundedUp(true).RoundedUp(true); again != s.RoundedUp(true) || again.Name() != s.Name() {
			t.Errorf("%+v: fitted once %+v, and twice %+v", s, s.RoundedUp(true), again)
		}
	}
}

// TestFittedWindowsAreLongEnough checks that fit never returns a shorter window, nor a window of twice the necessary
// length.
func TestFittedWindowsAreLongEnough(t *testing.T) {
	for _, steps := range []uint64{1, 2, 3, 4, 5, 1000, 1024, 1025, 1<<61 + 1, 1 << 62} {
		window := Window{steps}.RoundedUp(true).Span()
		if window < steps || window&(window-1) != 0 || window/2 >= steps {
			t.Errorf("%d steps: a window of %d", steps, window)
		}
		if life := (Lifetime{Steps: steps}).RoundedUp(true); life != (Lifetime{steps, window}) || life.Validate() != nil {
			t.Errorf("%d steps: %+v", steps, life)
		}
	}
	for _, steps := range []uint64{1<<62 + 1, 1<<63 + 1, math.MaxUint64} { // mechanisms refuse windows of this length
		if got := (Window{steps}).RoundedUp(true); got != (Window{steps}) {
			t.Errorf("%d steps: %+v", steps, got)
		}
	}
}

// TestAgesHaveFigures checks that ages printed in a log have names that can be searched for, all different.
func TestAgesHaveFigures(t *testing.T) {
	name := regexp.MustCompile(`^[a-z][a-z0-9_]*$`)
	for _, s := range []Scope{Window{64}, Decay{64}} {
		for _, ages := range [][]Age{wordsOf(s).Ages, wordsOf(s).Logged} {
			seen := map[string]bool{}
			for _, age := range ages {
				if !name.MatchString(age.Figure) || seen[age.Figure] {
					t.Errorf("%+v: the figure of %+v", s, age)
				}
				seen[age.Figure] = true
			}
		}
	}
}

// TestTimesStopsAtTheLastStep checks that products of steps stop at the last step, and are exact below it.
func TestTimesStopsAtTheLastStep(t *testing.T) {
	for _, c := range []struct{ a, b, want uint64 }{
		{3, 5, 15},
		{0, 5, 0},
		{5, 0, 0},
		{1 << 32, 1 << 31, 1 << 63},
		{1 << 32, 1 << 32, math.MaxUint64},
		{math.MaxUint64, 1, math.MaxUint64},
		{math.MaxUint64 / 3, 3, math.MaxUint64},
		{math.MaxUint64, 2, math.MaxUint64},
	} {
		if got := times(c.a, c.b); got != c.want {
			t.Errorf("%d times %d is %d, want %d", c.a, c.b, got, c.want)
		}
	}
}
