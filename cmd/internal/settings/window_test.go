package settings

import (
	"strings"
	"testing"

	"oriel/mechanisms/dp"
	"oriel/mechanisms/protection"
)

// loaded returns the minimal settings, with some lines replaced.
func loaded(t *testing.T, lines ...string) Settings {
	t.Helper()
	s, err := Load(append(minimal(), lines...), all...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestWindowIsANumberOrAWord checks the window that the mechanism gets, and the line in the canonical configuration.
// All spellings of a number must give one canonical text; a horizon must differ from a window of the same width.
func TestWindowIsANumberOrAWord(t *testing.T) {
	once := []string{"ORIEL_UPDATE=ogd", "ORIEL_MECHANISM=once-gaussian"}
	for _, test := range []struct {
		lines           []string
		window, horizon uint64
		canonical       string
	}{
		{nil, 1024, 0, "1024"},
		{[]string{"ORIEL_WINDOW=01024"}, 1024, 0, "1024"},
		{[]string{"ORIEL_WINDOW=horizon", "ORIEL_HORIZON=1024"}, 1024, 1024, "horizon"},
		{[]string{"ORIEL_WINDOW=horizon", "ORIEL_HORIZON=1025"}, 2048, 1025, "horizon"},
		{[]string{"ORIEL_WINDOW=horizon", "ORIEL_HORIZON=1"}, 1, 1, "horizon"},
		{[]string{"ORIEL_WINDOW=horizon", "ORIEL_HORIZON=4611686018427387904"}, 1 << 62, 1 << 62, "horizon"},
		{[]string{"ORIEL_WINDOW=horizon", "ORIEL_HORIZON=1025", "ORIEL_MECHANISM=blt"}, 1025, 1025, "horizon"},
		{[]string{"ORIEL_WINDOW=horizon", "ORIEL_HORIZON=4194304", "ORIEL_MECHANISM=blt"}, 1 << 22, 1 << 22, "horizon"},
		{append(once, "ORIEL_WINDOW=lifetime"), 0, 0, "lifetime"},
		{append(once, "ORIEL_WINDOW="), 0, 0, "lifetime"},
		{[]string{"ORIEL_WINDOW=lifetime", "ORIEL_MECHANISM=blt", "ORIEL_MEMORY=64"}, 0, 0, "lifetime"},
	} {
		s := loaded(t, test.lines...)
		learner := s.Learner()
		m := learner.Mechanism()
		wants := strings.Contains(strings.Join(test.lines, " "), "ORIEL_MEMORY=64")
		if wants != (m.Scope.Figures().Memory == 64) ||
			wants != strings.Contains(s.Canonical(), "\nMEMORY=64\n") {
			t.Errorf("%v: memory %d; canonical configuration %s", test.lines, m.Scope.Figures().Memory, s.Canonical())
		}
		if scope := m.Scope.Figures(); scope.Window != test.window || scope.Horizon != test.horizon {
			t.Errorf("%v: window %d, horizon %d, want %d and %d",
				test.lines, scope.Window, scope.Horizon, test.window, test.horizon)
		}
		if !strings.Contains(s.Canonical(), "\nWINDOW="+test.canonical+"\n") {
			t.Errorf("%v: canonical configuration %s", test.lines, s.Canonical())
		}
	}
}

// TestRoundsOfAStream checks which number of steps an operator reads, and the canonical configuration has as HORIZON.
// It is the horizon of a stream that ends, and ORIEL_ROUNDS of any other stream.
func TestRoundsOfAStream(t *testing.T) {
	proved := []string{"ORIEL_UPDATE=llo", "ORIEL_SET=simplex"}
	for _, test := range []struct {
		lines  []string
		rounds uint64
		line   string
	}{
		{[]string{"ORIEL_ROUNDS=240"}, 240, "HORIZON=240\n"},
		{[]string{"ORIEL_WINDOW=horizon", "ORIEL_HORIZON=9"}, 9, "HORIZON=9\n"},
		{[]string{"ORIEL_WINDOW=horizon", "ORIEL_HORIZON=9", "ORIEL_ROUNDS=9"}, 9, "HORIZON=9\n"},
	} {
		s := loaded(t, append(test.lines, proved...)...)
		_, after, found := strings.Cut(s.Canonical(), "\n"+test.line)
		if !found || strings.Contains(after, "ROUNDS") {
			t.Errorf("%v: canonical configuration\n%s", test.lines, s.Canonical())
		}
		if s.values.Rounds != test.rounds {
			t.Errorf("%v: the operator reads %d rounds, want %d", test.lines, s.values.Rounds, test.rounds)
		}
	}
}

// TestUsersOfAMemoryHaveAWindow covers user-level privacy with decaying sums. The window of users must reach the
// mechanism and the canonical configuration; without user-level privacy its line is empty.
func TestUsersOfAMemoryHaveAWindow(t *testing.T) {
	lines := []string{
		"ORIEL_WINDOW=lifetime", "ORIEL_MECHANISM=blt", "ORIEL_MEMORY=64", "ORIEL_USER_ID=key", "ORIEL_USER_SEPARATION=5",
		"ORIEL_USER_WINDOW=0100",
	}
	s := loaded(t, lines...)
	learner := s.Learner()
	m := learner.Mechanism()
	user := protection.User{Exchange: dp.Replace, Separation: 5, Steps: 100}
	if m.Terms != (protection.Terms{Scope: protection.Decay{Steps: 64}, Unit: user}) ||
		!strings.Contains(s.Canonical(), "\nUSER_WINDOW=100\n") {
		t.Errorf("%+v; canonical configuration %s", m, s.Canonical())
	}
	model := s.Model()
	if extras := learner.Operator().Extras(); len(extras) != 2 || extras[1].Name != "user_window" {
		t.Errorf("decisions have %v", extras)
	}
	if g, err := s.Guarantee(model); err != nil || g.Terms != m.Terms {
		t.Errorf("%+v, %v", g, err)
	}
	for _, without := range [][]string{lines[:3], {"ORIEL_USER_ID=key", "ORIEL_USER_SEPARATION=5"}} {
		if text := loaded(t, without...).Canonical(); !strings.Contains(text, "\nUSER_WINDOW=\n") {
			t.Errorf("%v: canonical configuration %s", without, text)
		}
	}
}

// TestHorizonHasNoAgeWeight checks that the filter of a stream that ends is fitted for the stream's window alone. A
// weight on later ages would reduce accuracy, and no event reaches these ages.
func TestHorizonHasNoAgeWeight(t *testing.T) {
	for want, lines := range map[string][]string{
		"0":   {"ORIEL_WINDOW=horizon", "ORIEL_HORIZON=1024", "ORIEL_MECHANISM=blt"},
		"0.3": {"ORIEL_MECHANISM=blt"},
	} {
		s := loaded(t, lines...)
		if m := s.Learner().Mechanism(); (m.AgeWeight == 0) != (want == "0") ||
			strings.Contains(s.Canonical(), "\nAGE_WEIGHT=0\n") != (want == "0") {
			t.Errorf("%v: age weight %g", lines, m.AgeWeight)
		}
	}
}

func TestOnceNeedsNoWindow(t *testing.T) {
	var lines []string
	for _, line := range minimal() {
		if !strings.HasPrefix(line, "ORIEL_WINDOW=") {
			lines = append(lines, line)
		}
	}
	if _, err := Load(
		append(lines, "ORIEL_UPDATE=ogd", "ORIEL_MECHANISM=once-gamma", "ORIEL_DELTA=0"), all...,
	); err != nil {
		t.Error(err)
	}
}

// TestDrawsAreForRulesThatDraw checks that the mechanism named draws is refused for operators that do not decide by the
// exponential mechanism.
func TestDrawsAreForRulesThatDraw(t *testing.T) {
	_, err := Load(append(minimal(), "ORIEL_MECHANISM=draws", "ORIEL_WINDOW=horizon", "ORIEL_HORIZON=9"), all...)
	if err == nil ||
		!strings.Contains(err.Error(), "ORIEL_MECHANISM: draws: releases nothing but draws") {
		t.Errorf("coco draws: %v", err)
	}
}

func TestWindowsThatDoNotFitAreRefused(t *testing.T) {
	f := func(want string, lines ...string) {
		t.Helper()
		_, err := Load(append(minimal(), lines...), all...)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: want %q, got %v", lines, want, err)
		}
	}
	f("ORIEL_AGE_WEIGHT: 0.3: with ORIEL_WINDOW=horizon no event outlives", "ORIEL_WINDOW=horizon", "ORIEL_HORIZON=9", "ORIEL_MECHANISM=blt", "ORIEL_AGE_WEIGHT=0.3")
	f(`ORIEL_WINDOW: "week": not a number of steps above 0, horizon or lifetime`, "ORIEL_WINDOW=week")
	f(`ORIEL_WINDOW: "1024": ORIEL_MECHANISM=draws protects the whole life`, "ORIEL_MECHANISM=draws")
	f("ORIEL_HORIZON: not set", "ORIEL_MECHANISM=draws", "ORIEL_WINDOW=horizon")
	f("ORIEL_HORIZON: 4294967297: above", "ORIEL_MECHANISM=draws", "ORIEL_WINDOW=horizon", "ORIEL_HORIZON=4294967297")
	f("ORIEL_MECHANISM: draws: has no user level", "ORIEL_MECHANISM=draws", "ORIEL_WINDOW=horizon", "ORIEL_HORIZON=9",
		"ORIEL_USER_ID=key", "ORIEL_USER_SEPARATION=3")
	f(`ORIEL_WINDOW: "-8": not a number`, "ORIEL_WINDOW=-8")
	f(`ORIEL_WINDOW: "0": not a number of steps above 0`, "ORIEL_WINDOW=0")
	f(`ORIEL_WINDOW: "0": not a number of steps above 0`, "ORIEL_WINDOW=0", "ORIEL_MECHANISM=blt")
	f("ORIEL_WINDOW: 4194305: not within", "ORIEL_WINDOW=4194305", "ORIEL_MECHANISM=blt")
	f("ORIEL_HORIZON: not set; ORIEL_WINDOW=horizon", "ORIEL_WINDOW=horizon")
	f("ORIEL_HORIZON: 4194305: above 4194304, the largest window of ORIEL_MECHANISM=blt", "ORIEL_WINDOW=horizon", "ORIEL_HORIZON=4194305", "ORIEL_MECHANISM=blt")
	f("ORIEL_HORIZON: 4611686018427387905: above", "ORIEL_WINDOW=horizon", "ORIEL_HORIZON=4611686018427387905")
	f("ORIEL_HORIZON: not set; ORIEL_WINDOW=horizon", "ORIEL_WINDOW=horizon", "ORIEL_ROUNDS=9")
	f("ORIEL_ROUNDS: 8: with ORIEL_WINDOW=horizon each stream ends after ORIEL_HORIZON=9 steps", "ORIEL_WINDOW=horizon",
		"ORIEL_HORIZON=9", "ORIEL_ROUNDS=8")
	f("ORIEL_HORIZON: 9: set, but only a stream with ORIEL_WINDOW=horizon ends", "ORIEL_HORIZON=9", "ORIEL_ROUNDS=8")
	f(`ORIEL_ROUNDS: "many": not a whole number in decimal digits (unit: steps)`, "ORIEL_ROUNDS=many")
	f("ORIEL_WINDOW: lifetime: ORIEL_MECHANISM=tree-gaussian has a window", "ORIEL_WINDOW=lifetime")
	decays := func(want string, lines ...string) {
		t.Helper()
		f(want, append([]string{"ORIEL_WINDOW=lifetime", "ORIEL_MECHANISM=blt"}, lines...)...)
	}
	decays("ORIEL_MEMORY: not set; ORIEL_WINDOW=lifetime")
	decays("ORIEL_MEMORY: 1: not within 2 to 1048576", "ORIEL_MEMORY=1")
	decays("ORIEL_MEMORY: 1048577: not within 2 to 1048576", "ORIEL_MEMORY=1048577")
	decays("ORIEL_MEMORY: 134217728: not within 2 to 1048576", "ORIEL_MEMORY=134217728")
	decays(`ORIEL_MEMORY: "128MiB": not a whole number in decimal digits (unit: steps)`, "ORIEL_MEMORY=128MiB")
	decays("ORIEL_AGE_WEIGHT: 0.3: with ORIEL_WINDOW=lifetime", "ORIEL_MEMORY=64", "ORIEL_AGE_WEIGHT=0.3")
	decays("ORIEL_POLES: 3: with ORIEL_WINDOW=lifetime", "ORIEL_MEMORY=64", "ORIEL_POLES=3")
	decays("ORIEL_USER_WINDOW: 0: not within 1 to 1099511627776; with a memory nothing bounds", "ORIEL_MEMORY=64", "ORIEL_USER_ID=key",
		"ORIEL_USER_SEPARATION=5")
	decays("ORIEL_USER_WINDOW: 1099511627777: above", "ORIEL_MEMORY=64", "ORIEL_USER_ID=key",
		"ORIEL_USER_SEPARATION=5",
		"ORIEL_USER_WINDOW=1099511627777")
	decays("ORIEL_USER_WINDOW: set, but ORIEL_USER_ID", "ORIEL_MEMORY=64", "ORIEL_USER_WINDOW=100")
	f("ORIEL_USER_WINDOW: set, but without ORIEL_MEMORY the window of users is ORIEL_WINDOW", "ORIEL_USER_ID=key",
		"ORIEL_USER_SEPARATION=5", "ORIEL_USER_WINDOW=100")
	decays("ORIEL_CONSTANTS: proved: these constants bound regret of sums that do not decay", "ORIEL_MEMORY=64",
		"ORIEL_UPDATE=llo", "ORIEL_SET=simplex", "ORIEL_HORIZON=9")
	decays("ORIEL_UPDATE: ogd: with ORIEL_MEMORY sums decay", "ORIEL_MEMORY=64", "ORIEL_UPDATE=ogd")
	decays("ORIEL_OWN_CONVEXITY: true: with ORIEL_MEMORY", "ORIEL_MEMORY=64", "ORIEL_OWN_CONVEXITY=true")
	f("ORIEL_MEMORY: set, but only ORIEL_MECHANISM=blt with ORIEL_WINDOW=lifetime forgets", "ORIEL_MEMORY=64")
	f("ORIEL_MEMORY: set, but only", "ORIEL_MEMORY=64", "ORIEL_MECHANISM=blt")
	f("ORIEL_MEMORY: 83886080: not within 2 to 1048576", "ORIEL_MEMORY=83886080")
	f("ORIEL_WINDOW: \"1024\": ORIEL_MECHANISM=once-gaussian has no window", "ORIEL_UPDATE=ogd",
		"ORIEL_MECHANISM=once-gaussian")
	f("ORIEL_WINDOW: \"horizon\": ORIEL_MECHANISM=once-gaussian has no window", "ORIEL_UPDATE=ogd",
		"ORIEL_MECHANISM=once-gaussian", "ORIEL_WINDOW=horizon")
	f("ORIEL_DELTA", "ORIEL_UPDATE=ogd", "ORIEL_MECHANISM=once-gaussian", "ORIEL_WINDOW=", "ORIEL_DELTA=0")
	f("ORIEL_UPDATE: ogd: learns from releases of single steps, ORIEL_MECHANISM=blt", "ORIEL_UPDATE=ogd", "ORIEL_MECHANISM=blt")
	f("ORIEL_UPDATE: projection: learns from prefix sums, but ORIEL_MECHANISM=once-gamma", "ORIEL_MECHANISM=once-gamma", "ORIEL_WINDOW=")
	f("ORIEL_MECHANISM: once-gaussian: has no user level, and ORIEL_USER_ID is set", "ORIEL_UPDATE=ogd", "ORIEL_MECHANISM=once-gaussian",
		"ORIEL_WINDOW=", "ORIEL_USER_ID=key", "ORIEL_USER_SEPARATION=5")
}
