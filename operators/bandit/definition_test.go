package bandit

import (
	"strconv"
	"strings"
	"testing"

	"oriel/mechanisms"
	"oriel/mechanisms/dp"
	"oriel/mechanisms/protection"
	"oriel/operators/optest"
)

// configOf returns the operator with the settings NAME=value, for a mechanism.
func configOf(m mechanisms.Config, lines ...string) (operator, error) {
	graphs := map[string]string{
		"square": "a>b\na>c\nb>d\nc>d\n", "path": "a>b\nb>c\n", "double": strings.Repeat("a>b\n", 200),
	}
	read := func(name string) ([]byte, error) { return []byte(graphs[name]), nil }
	c, err := optest.ConfigureFrom(read, Definition, m, lines...)
	if err != nil {
		return operator{}, err
	}
	return c.(operator), nil
}

// under returns a mechanism's configuration with the event as unit, under replacement.
func under(name string, batch uint64, s protection.Scope) mechanisms.Config {
	return mechanisms.Config{
		Name: name, Batch: batch, Terms: protection.Terms{Scope: s, Unit: protection.Event{Exchange: dp.Replace}},
	}
}

var disc = []string{"SET=l2-ball", "RADIUS=1", "DIMENSION=2"}

// TestSettingsDetermineActions checks that each setting reaches the configuration and the plan.
func TestSettingsDetermineActions(t *testing.T) {
	m := under("tree-laplace", 10, protection.Lifetime{Steps: 100, Within: 128})
	m.Budget.Epsilon = 1
	for _, x := range []struct {
		lines []string
		want  func(c operator) bool
	}{
		{nil, func(c operator) bool {
			return c.Actions.Actions == 20 && c.Actions.Delay == 4 && c.Losses.High == 1 && c.Shrink &&
				!c.Projected && !c.Doubling
		}},
		{[]string{"UPDATE=projection"}, func(c operator) bool { return c.Projected && c.centreError() == 0 }},
		{[]string{"PRECISION=0.125"}, func(c operator) bool { return c.centreError() == 0.125 }},
		{[]string{"DOUBLING=true"}, func(c operator) bool { return len(c.NewParams().Episodes) == 7 }},
		{[]string{"LOSS_RANGE=-2:3", "BASELINE=0.5", "SMOOTHING=0.25", "RATE=0.1"}, func(c operator) bool {
			p := c.NewParams().Episodes[0]
			return c.Losses.Low == -2 && c.Losses.High == 3 && c.Baseline == 0.5 && p == Episode{0.25, 0.1, 0.75}
		}},
	} {
		c, err := configOf(m, append(x.lines, disc...)...)
		if err != nil {
			t.Errorf("%v: %v", x.lines, err)
			continue
		}
		if !x.want(c) {
			t.Errorf("%v: %+v", x.lines, c)
		}
	}
}

// TestWrongSettingsAreNamed checks that each error names the variable and the rule.
func TestWrongSettingsAreNamed(t *testing.T) {
	going, ending := protection.Window{Steps: 64}, protection.Lifetime{Steps: 64, Within: 64}
	for want, x := range map[string]struct {
		m     mechanisms.Config
		lines []string
	}{
		"ORIEL_DOUBLING: true: needs ORIEL_ROUNDS": {
			under("blt", 4, going), []string{"DOUBLING=true", "SMOOTHING=0.1", "RATE=0.1"},
		},
		"ORIEL_DOUBLING: true: takes the paper's": {under("blt", 4, ending), []string{"DOUBLING=true", "RATE=0.1"}},
		"ORIEL_UPDATE: convex: set flow": {
			under("blt", 4, ending), []string{
				"UPDATE=projection", "SHRINK=false", "SET=flow", "DIMENSION=4", "EDGES=square",
			},
		},
		"ORIEL_MECHANISM: once-gamma: learns from sums": {
			under("once-gamma", 4, protection.PerStep{}), []string{"ROUNDS=64"},
		},
		"ORIEL_RATE: not set, and neither is ORIEL_ROUNDS": {under("blt", 4, going), []string{"SMOOTHING=0.1"}},
		"ORIEL_LOSS_RANGE: \"3:1\"":                        {under("blt", 4, ending), []string{"LOSS_RANGE=3:1"}},
		"ORIEL_PLAYS: 3: below ORIEL_BATCH=4":              {under("blt", 4, ending), []string{"PLAYS=3"}},
		"ORIEL_SMOOTHING 2: not below 1, the radius":       {under("blt", 4, ending), []string{"SMOOTHING=2"}},
		"ORIEL_PRECISION: 9: not from 0 to the set's diameter 2": {
			under("blt", 4, ending), []string{"PRECISION=9"},
		},
		"ORIEL_PRECISION: 0.1: ORIEL_UPDATE=projection is exact": {
			under("blt", 4, ending), []string{"PRECISION=0.1", "UPDATE=projection"},
		},
		"ORIEL_SHRINK: true: set flow: of one point": {
			under("blt", 4, ending), []string{"SET=flow", "DIMENSION=2", "EDGES=path"},
		},
		"ORIEL_SHRINK: true: convex: trees of 200 edges": {
			under("blt", 4, ending), []string{"SET=trees", "DIMENSION=200", "EDGES=double"},
		},
		"ORIEL_LOW: box: coordinate 2 from 1 to 1": {
			under("blt", 4, ending), []string{"SET=box", "RADIUS=", "LOW=0,1", "HIGH=1"},
		},
		"ORIEL_RADIUS: not set; every set has one but a box": {under("blt", 4, ending), []string{"RADIUS="}},
	} {
		if _, err := configOf(x.m, append(append([]string(nil), disc...), x.lines...)...); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
}

// TestThereIsNoUserLevel checks that a bandit with users as unit cannot be opened: neither from settings nor from a
// Config in code, and neither before nor after its plan is made. The answers of a round are added together, so no
// user-level bound is proved.
func TestThereIsNoUserLevel(t *testing.T) {
	for _, delay := range []string{"0", "4"} {
		m := mechanisms.Config{Name: "blt", Batch: 4}
		m.Terms = protection.Terms{
			Scope: protection.Lifetime{Steps: 64, Within: 64}, Unit: protection.Event{Exchange: dp.Replace},
		}
		c, err := configOf(m, append(append([]string(nil), disc...), "DELAY="+delay)...)
		if err != nil {
			t.Fatal(err)
		}
		params, err := c.Params(m)
		if err != nil {
			t.Fatal(err)
		}
		users := m
		users.Unit = protection.User{Exchange: dp.Replace, Separation: 2}
		for _, frozen := range [][]byte{nil, params} {
			if err := c.Require(&m, frozen); err != nil {
				t.Errorf("events: %v", err)
			}
			if err := c.Require(&users, frozen); err == nil || !strings.Contains(err.Error(), "no user level") {
				t.Errorf("users, delay %s: %v", delay, err)
			}
		}
	}
}

// TestActionsThatMayLeaveNeedNoTangentSpace checks that a deployment whose actions may leave the set needs no tangent
// space. Directions then fill R^n.
func TestActionsThatMayLeaveNeedNoTangentSpace(t *testing.T) {
	m := under("blt", 4, protection.Lifetime{Steps: 64, Within: 64})
	for _, lines := range [][]string{
		{"SET=flow", "DIMENSION=2", "EDGES=path"}, {"SET=trees", "DIMENSION=200", "EDGES=double"},
	} {
		c, err := configOf(m, append(append([]string{"SHRINK=false"}, disc...), lines...)...)
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]int{"SET=flow": 2, "SET=trees": 199}[lines[0]]
		if got := c.NewParams().Dimension; got != want {
			t.Errorf("%v: directions of %d dimensions, want %d", lines, got, want)
		}
	}
}

// TestPlanCountsInWords checks that the text of the plan uses the singular for one step and one dimension.
func TestPlanCountsInWords(t *testing.T) {
	for delay, want := range map[string]string{
		"0": "each learned from 1 step after it; η", "1": "each learned from 2 steps after it; η",
	} {
		m := under("blt", 4, protection.Lifetime{Steps: 64, Within: 64})
		c, err := configOf(m, append(disc[:len(disc):len(disc)], "SET=simplex", "DIMENSION=2", "DELAY="+delay)...)
		if err != nil {
			t.Fatal(err)
		}
		text := c.Describe(m).Steps
		if !strings.Contains(text, want) || !strings.Contains(text, "Directions of plays have 1 dimension of 2, because") {
			t.Error(text)
		}
	}
}

// TestOnlyTheBrokenSettingIsReported checks that a wrong setting is not reported a second time as a problem of the set
// built from it.
func TestOnlyTheBrokenSettingIsReported(t *testing.T) {
	m := mechanisms.Config{Name: "tree-laplace", Batch: 10}
	m.Terms = protection.Terms{
		Scope: protection.Lifetime{Steps: 100, Within: 128}, Unit: protection.Event{Exchange: dp.Replace},
	}
	m.Budget.Epsilon = 1
	_, err := configOf(m, "SET=l2-ball", "RADIUS=5m", "DIMENSION=2")
	if want := `ORIEL_RADIUS: "5m": not a number in decimal digits (unit: length)`; err == nil || err.Error() != want {
		t.Errorf("%v, want %s alone", err, want)
	}
}

// TestVacuousBoundsAreNamed checks the text about vacuous regret bounds. It names the number of actions from which on
// the bound is below the trivial bound, and that number is right. The text is absent if the bound is not vacuous.
func TestVacuousBoundsAreNamed(t *testing.T) {
	text := func(horizon uint64, more ...string) (string, operator) {
		t.Helper()
		m := mechanisms.Config{Name: "tree-laplace", Batch: 1000}
		m.Terms = protection.Terms{
			Scope: protection.Lifetime{Steps: horizon, Within: horizon}, Unit: protection.Event{Exchange: dp.Replace},
		}
		m.Budget.Epsilon = 1
		c, err := configOf(m, append(append(more, "PLAYS=1000", "DELAY=0", "PRECISION=0.01"), disc...)...)
		if err != nil {
			t.Fatal(err)
		}
		return c.regret(), c
	}
	short, c := text(2)
	const most = 1 // the range of losses is [0, 1]
	if !strings.Contains(short, "No play costs more than 1 above the best point anyway, so that this bound says nothing before some ") {
		t.Fatal(short)
	}
	_, rest, _ := strings.Cut(short, " before some ")
	number, _, _ := strings.Cut(rest, " plays")
	from, err := strconv.ParseFloat(number, 64)
	if err != nil {
		t.Fatal(err)
	}
	before, after := c.regretBound(c.episode(0.9*from), 0.9*from), c.regretBound(c.episode(1.1*from), 1.1*from)
	if before < most || after >= most {
		t.Errorf("%g plays: %g before and %g after", from, before, after)
	}
	long, _ := text(uint64(from / 300))
	if strings.Contains(long, "says nothing") || !strings.Contains(long, "If losses are convex") {
		t.Error(long)
	}
	if chosen, _ := text(2, "RATE=0.1"); !strings.HasSuffix(chosen, "so that this bound says nothing at this length") {
		t.Error(chosen)
	}
}
