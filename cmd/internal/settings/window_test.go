package settings

import (
	"strings"
	"testing"
)

// loaded gives the settings of minimal with lines in the place of its own.
func loaded(t *testing.T, lines ...string) Settings {
	t.Helper()
	s, err := Load(append(minimal(), lines...), all...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestWindowIsANumberOrAWord: what the mechanism is asked for, and what the canonical configuration says. A number is the same text
// however it is written; a horizon is told from a window of the same width.
func TestWindowIsANumberOrAWord(t *testing.T) {
	once := []string{"ORIEL_UPDATE=ogd", "ORIEL_MECHANISM=once-gaussian"}
	for _, test := range []struct {
		lines           []string
		window, horizon uint64
		canonical       string
	}{
		{nil, 1024, 0, "1024"},
		{[]string{"ORIEL_WINDOW=01024"}, 1024, 0, "1024"},
		{[]string{"ORIEL_WINDOW=1024", "ORIEL_HORIZON=9"}, 1024, 0, "1024"},
		{[]string{"ORIEL_WINDOW=horizon", "ORIEL_HORIZON=1024"}, 1024, 1024, "horizon"},
		{[]string{"ORIEL_WINDOW=horizon", "ORIEL_HORIZON=1025"}, 2048, 1025, "horizon"},
		{[]string{"ORIEL_WINDOW=horizon", "ORIEL_HORIZON=1"}, 1, 1, "horizon"},
		{[]string{"ORIEL_WINDOW=horizon", "ORIEL_HORIZON=4611686018427387904"}, 1 << 62, 1 << 62, "horizon"},
		{[]string{"ORIEL_WINDOW=horizon", "ORIEL_HORIZON=1025", "ORIEL_MECHANISM=blt"}, 1025, 1025, "horizon"},
		{[]string{"ORIEL_WINDOW=horizon", "ORIEL_HORIZON=4194304", "ORIEL_MECHANISM=blt"}, 1 << 22, 1 << 22, "horizon"},
		{append(once, "ORIEL_WINDOW=lifetime"), 0, 0, "lifetime"},
		{append(once, "ORIEL_WINDOW="), 0, 0, "lifetime"},
	} {
		s := loaded(t, test.lines...)
		m, _, err := s.Parts()
		if err != nil {
			t.Fatalf("%v: %v", test.lines, err)
		}
		if m.Window != test.window || m.Horizon != test.horizon {
			t.Errorf("%v: window %d, horizon %d, want %d and %d", test.lines, m.Window, m.Horizon, test.window, test.horizon)
		}
		if !strings.Contains(s.Canonical(), "\nWINDOW="+test.canonical+"\n") {
			t.Errorf("%v: canonical configuration %s", test.lines, s.Canonical())
		}
	}
}

// A filter for a stream that ends is fitted for its window alone: what comes behind costs error and never happens.
func TestHorizonHasNoAgeWeight(t *testing.T) {
	for want, lines := range map[string][]string{
		"0":   {"ORIEL_WINDOW=horizon", "ORIEL_HORIZON=1024", "ORIEL_MECHANISM=blt"},
		"0.3": {"ORIEL_MECHANISM=blt"},
	} {
		s := loaded(t, lines...)
		m, _, err := s.Parts()
		if err != nil || (m.AgeWeight == 0) != (want == "0") || !strings.Contains(s.Canonical(), "AGE_WEIGHT="+want+"\n") {
			t.Errorf("%v: age weight %g, %v", lines, m.AgeWeight, err)
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
	if _, err := Load(append(lines, "ORIEL_UPDATE=ogd", "ORIEL_MECHANISM=once-gamma", "ORIEL_DELTA=0"), all...); err != nil {
		t.Error(err)
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
	f(`ORIEL_WINDOW: "week": not a number of steps, horizon or lifetime`, "ORIEL_WINDOW=week")
	f(`ORIEL_WINDOW: "-8": not a number`, "ORIEL_WINDOW=-8")
	f(`ORIEL_WINDOW: 0: not a power of two`, "ORIEL_WINDOW=0")
	f("ORIEL_WINDOW: 0: not within 1 to", "ORIEL_WINDOW=0", "ORIEL_MECHANISM=blt")
	f("ORIEL_WINDOW: 4194305: not within", "ORIEL_WINDOW=4194305", "ORIEL_MECHANISM=blt")
	f("ORIEL_HORIZON: not set; ORIEL_WINDOW=horizon", "ORIEL_WINDOW=horizon")
	f("ORIEL_HORIZON: 4194305: above 4194304, the largest window of ORIEL_MECHANISM=blt", "ORIEL_WINDOW=horizon", "ORIEL_HORIZON=4194305", "ORIEL_MECHANISM=blt")
	f("ORIEL_HORIZON: 4611686018427387905: above", "ORIEL_WINDOW=horizon", "ORIEL_HORIZON=4611686018427387905")
	f("ORIEL_WINDOW: lifetime: ORIEL_MECHANISM=tree-gaussian has a window", "ORIEL_WINDOW=lifetime")
	f("ORIEL_WINDOW: \"1024\": ORIEL_MECHANISM=once-gaussian has no window", "ORIEL_UPDATE=ogd", "ORIEL_MECHANISM=once-gaussian")
	f("ORIEL_WINDOW: \"horizon\": ORIEL_MECHANISM=once-gaussian has no window", "ORIEL_UPDATE=ogd", "ORIEL_MECHANISM=once-gaussian", "ORIEL_WINDOW=horizon")
	f("ORIEL_DELTA", "ORIEL_UPDATE=ogd", "ORIEL_MECHANISM=once-gaussian", "ORIEL_WINDOW=", "ORIEL_DELTA=0")
	f("ORIEL_UPDATE: ogd: learns from releases of single steps, ORIEL_MECHANISM=blt", "ORIEL_UPDATE=ogd", "ORIEL_MECHANISM=blt")
	f("ORIEL_UPDATE: projection: learns from prefix sums, ORIEL_MECHANISM=once-gamma", "ORIEL_MECHANISM=once-gamma", "ORIEL_WINDOW=")
	f("ORIEL_MECHANISM: once-gaussian: has no user level, and ORIEL_USER_ID is set", "ORIEL_UPDATE=ogd", "ORIEL_MECHANISM=once-gaussian",
		"ORIEL_WINDOW=", "ORIEL_USER_ID=key", "ORIEL_USER_SEPARATION=5")
}
