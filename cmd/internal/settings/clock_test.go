package settings

import (
	"slices"
	"strings"
	"testing"
	"time"

	"oriel/mechanisms/dp"
	"oriel/mechanisms/protection"
	"oriel/mechanisms/steps"
	"oriel/pipeline/notice"
)

// hourly returns settings of steps by the clock, with some lines replaced or, without a value, left out.
func hourly(lines ...string) []string {
	environ := []string{
		"ORIEL_BROKERS=h:1", "ORIEL_NAME=n", "ORIEL_INPUT_TOPIC=i", "ORIEL_START=latest", "ORIEL_STATE_DIR=d",
		"ORIEL_MASTER_KEY_FILE=k", "ORIEL_STREAM=topic", "ORIEL_OPERATOR=aggregate", "ORIEL_STEP=1h", "ORIEL_CELLS=kind=a|b",
		"ORIEL_MECHANISM=once-gaussian", "ORIEL_EPSILON=1", "ORIEL_DELTA=1e-6",
	}
	return append(environ, lines...)
}

// users are the lines of user-level privacy with steps by the clock.
var ofUsers = []string{"ORIEL_USER_ID=key", "ORIEL_USER_PERIOD=1d", "ORIEL_USER_EVENTS=3"}

// TestStepsByTheClock checks what the settings of steps by the clock say to mechanism, operator, streams and service.
func TestStepsByTheClock(t *testing.T) {
	event := protection.Event{Exchange: dp.AddRemove}
	for _, c := range []struct {
		lines  []string
		clock  steps.Clock
		unit   protection.Unit
		period steps.Clock
	}{
		{nil, steps.Clock{Length: 3600}, event, steps.Clock{}},
		{[]string{"ORIEL_STEP=1s", "ORIEL_ADJACENCY=add-remove"}, steps.Clock{Length: 1}, event, steps.Clock{}},
		{
			[]string{"ORIEL_STEP=7d", "ORIEL_STEP_OFFSET=4d"},
			steps.Clock{Length: 7 * steps.Day, Offset: 4 * steps.Day},
			event,
			steps.Clock{},
		},
		{
			ofUsers,
			steps.Clock{Length: 3600},
			protection.UserPeriod{PeriodSteps: 24, Events: 3},
			steps.Clock{Length: steps.Day},
		},
		{ // days, and weeks of users from Monday
			append(ofUsers[:1:1], "ORIEL_STEP=1d", "ORIEL_USER_PERIOD=7d", "ORIEL_STEP_OFFSET=98h"),
			steps.Clock{Length: steps.Day, Offset: 7200},
			protection.UserPeriod{PeriodSteps: 7, Events: 1},
			steps.Clock{Length: 7 * steps.Day, Offset: 4*steps.Day + 7200},
		},
	} {
		s, err := Load(hourly(c.lines...), all...)
		if err != nil {
			t.Fatalf("%v: %v", c.lines, err)
		}
		m, model := s.Learner().Mechanism(), s.Model()
		if m.Batch != 0 || m.Terms != (protection.Terms{Scope: protection.PerStep{}, Unit: c.unit}) ||
			model.Clock != c.clock || s.values.Step != c.clock.Length {
			t.Errorf("%v: %+v, clock %+v", c.lines, m, model.Clock)
		}
		if users := model.Users; (users == nil) != (c.period == steps.Clock{}) ||
			users != nil && (users.Period != c.period || users.Events != c.unit.StepEvents() || users.Separation != 0) {
			t.Errorf("%v: %+v, want the period %+v", c.lines, users, c.period)
		}
		if g, err := s.Guarantee(model); err != nil || g.Batch != 0 || g.Epsilon > 1 || g.Epsilon < 0.999 {
			t.Errorf("%v: %+v, %v", c.lines, g, err)
		}
		if d := s.Deployment(); d.StepGrace != 2*time.Second || d.StepDelay != 5*time.Second || !d.Begin.IsZero() {
			t.Errorf("%v: %+v", c.lines, d)
		}
	}
}

// TestClockInTheCanonicalConfiguration checks that each setting of steps by the clock that decides bytes makes another
// deployment, and that the text of a deployment by count has none of them.
func TestClockInTheCanonicalConfiguration(t *testing.T) {
	canonical := func(lines ...string) string {
		t.Helper()
		s, err := Load(lines, all...)
		if err != nil {
			t.Fatal(err)
		}
		return s.Canonical()
	}
	base := canonical(hourly(ofUsers...)...)
	for _, line := range []string{
		"STEP=1h0m0s", "STEP_OFFSET=0s", "USER_PERIOD=24h0m0s", "USER_EVENTS=3", "BATCH=0", "ADJACENCY=add-remove",
	} {
		if !strings.Contains(base, "\n"+line+"\n") && !strings.HasPrefix(base, line+"\n") {
			t.Errorf("no line %s in\n%s", line, base)
		}
	}
	for _, line := range []string{
		"ORIEL_STEP=30m", "ORIEL_STEP_OFFSET=1m", "ORIEL_USER_PERIOD=12h", "ORIEL_USER_EVENTS=1", "ORIEL_USER_ID=header:u",
	} {
		if canonical(append(hourly(ofUsers...), line)...) == base {
			t.Errorf("%s is the same deployment", line)
		}
	}
	same := append(hourly(ofUsers...), "ORIEL_STEP=60m", "ORIEL_STEP_GRACE=1s", "ORIEL_STEP_DELAY=9s",
		"ORIEL_START=2026-11-01T00:00:00Z", "ORIEL_ADJACENCY=add-remove")
	if canonical(same...) != base {
		t.Error("settings that decide no bytes make another deployment")
	}
	for line := range strings.Lines(canonical(minimal()...)) {
		if strings.HasPrefix(line, "STEP") || strings.HasPrefix(line, "USER_PERIOD") ||
			strings.HasPrefix(line, "USER_EVENTS") {
			t.Errorf("a deployment by count has %s", line)
		}
	}
}

// TestStartOfStepsByTheClock checks that the first step is that of the opening, or of a time that a person gave.
func TestStartOfStepsByTheClock(t *testing.T) {
	s, err := Load(hourly("ORIEL_START=2026-11-01T02:30:00+01:00"), all...)
	if d := s.Deployment(); err != nil ||
		d.Begin.Unix() != time.Date(2026, 11, 1, 1, 30, 0, 0, time.UTC).Unix() || d.Offsets != nil {
		t.Errorf("%+v, %v", d, err)
	}
}

// TestClockRefusals checks that each setting that does not go with steps by the clock is refused in one sentence that
// names the remedy, and that no other setting is blamed.
func TestClockRefusals(t *testing.T) {
	for _, c := range []struct {
		want  string
		lines []string
	}{
		{"ORIEL_BATCH: set, and so is ORIEL_STEP: a step ends by the clock or after a number of records; remove one of the two", []string{"ORIEL_BATCH=1"}},
		{"ORIEL_STREAM: partition: with ORIEL_STEP the clock closes the steps of the whole topic; set ORIEL_STREAM=topic", []string{"ORIEL_STREAM=partition"}},
		{"ORIEL_STREAM: not set: with ORIEL_STEP", []string{"ORIEL_STREAM="}},
		{"ORIEL_MECHANISM: blt: sums that remember, models and windows stay by count; take once-laplace or once-gaussian, or ORIEL_BATCH", []string{"ORIEL_MECHANISM=blt", "ORIEL_WINDOW=1024"}},
		{"ORIEL_MECHANISM: blt: sums that remember", []string{"ORIEL_MECHANISM=blt"}},
		{
			"ORIEL_MECHANISM: blt: sums that remember",
			[]string{"ORIEL_MECHANISM=blt", "ORIEL_WINDOW=lifetime", "ORIEL_MEMORY=64"},
		},
		{
			"ORIEL_MECHANISM: blt: sums that remember",
			[]string{"ORIEL_MECHANISM=blt", "ORIEL_WINDOW=horizon", "ORIEL_HORIZON=64"},
		},
		{"ORIEL_RUNTIME_METRICS: true, but memory and processor time depend on records", []string{"ORIEL_RUNTIME_METRICS=true"}},
		{`ORIEL_WINDOW: "64": ORIEL_MECHANISM=once-gaussian has no window`, []string{"ORIEL_WINDOW=64"}},
		{"ORIEL_MEMORY: set, but only", []string{"ORIEL_MEMORY=64"}},
		{"ORIEL_HORIZON: 64: set, but only a stream", []string{"ORIEL_HORIZON=64"}},
		{"ORIEL_STEP: 7s: neither whole seconds that divide 24h, nor whole days; take 1s, 1m, 1h or 1d", []string{"ORIEL_STEP=7s"}},
		{"ORIEL_STEP: 36h0m0s: neither", []string{"ORIEL_STEP=36h"}},
		{"ORIEL_STEP: 500ms: neither", []string{"ORIEL_STEP=500ms"}},
		{"ORIEL_STEP: 0s: neither", []string{"ORIEL_STEP=0s"}},
		{"ORIEL_STEP_OFFSET: 1h0m0s: not whole seconds below the length of a step", []string{"ORIEL_STEP_OFFSET=1h"}},
		{"ORIEL_STEP_OFFSET: 1.5s: not whole seconds", []string{"ORIEL_STEP_OFFSET=1500ms"}},
		{"ORIEL_STEP_DELAY: 2.5s: less than 1s above ORIEL_STEP_GRACE=2s", []string{"ORIEL_STEP_DELAY=2500ms"}},
		{"ORIEL_STEP_GRACE: 1ms: not within 100ms to 1h", []string{"ORIEL_STEP_GRACE=1ms"}},
		{`ORIEL_START: "earliest": ORIEL_STEP takes latest, or a time such as 2026-11-01T00:00:00Z, because no record may decide which step is first`, []string{"ORIEL_START=earliest"}},
		{`ORIEL_START: "offsets.txt": ORIEL_STEP takes latest`, []string{"ORIEL_START=offsets.txt"}},
		{`ORIEL_START: "1960-01-01T00:00:00Z": ORIEL_STEP takes latest`, []string{"ORIEL_START=1960-01-01T00:00:00Z"}},
		{"ORIEL_ADJACENCY: set, but with ORIEL_STEP an event is present or absent", []string{"ORIEL_ADJACENCY=replace"}},
		{"ORIEL_ADJACENCY: set, but with ORIEL_STEP an event is present or absent", []string{"ORIEL_ADJACENCY=zero-out"}},
		{"ORIEL_STEP: 1 s: each step draws 1048576 coordinates and takes 536870912 products for quantiles; take 4 s or more", []string{"ORIEL_STEP=1s", "ORIEL_CELLS=a=0:1:1024", "ORIEL_VALUE=x=0:1", "ORIEL_STATISTICS=p50", "ORIEL_BINS=1024"}},
		{"ORIEL_EMIT_EVERY: 2: with once-gaussian each step is a window of its own; a longer ORIEL_STEP makes one of as much time", []string{"ORIEL_EMIT_EVERY=2"}},
		{"ORIEL_USER_PERIOD: not set; with ORIEL_STEP, ORIEL_USER_ID needs the length of a user's period, such as 1d", []string{"ORIEL_USER_ID=key"}},
		{"ORIEL_USER_PERIOD: 30m0s: not whole steps of ORIEL_STEP=1h0m0s", append(ofUsers[:1:1], "ORIEL_USER_PERIOD=30m")},
		{"ORIEL_USER_PERIOD: 36h0m0s: neither", append(ofUsers[:1:1], "ORIEL_USER_PERIOD=36h")},
		{"ORIEL_USER_PERIOD: set, but ORIEL_USER_ID does not say who a user is", []string{"ORIEL_USER_PERIOD=1d"}},
		{"ORIEL_USER_EVENTS: set, but ORIEL_USER_ID does not say who a user is", []string{"ORIEL_USER_EVENTS=2"}},
		{"ORIEL_USER_EVENTS: 0: not within 1 to 65535", append(ofUsers[:2:2], "ORIEL_USER_EVENTS=0")},
		{"ORIEL_USER_SEPARATION: set, but with ORIEL_STEP no number of steps lies between a user's events", append(ofUsers[:2:2], "ORIEL_USER_SEPARATION=5")},
	} {
		_, err := Load(hourly(c.lines...), all...)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: want %q, got %v", c.lines, c.want, err)
		} else if strings.Contains(err.Error(), "\n") {
			t.Errorf("%v: several problems: %v", c.lines, err)
		}
	}
}

// TestSettingsOfTheClockNeedIt checks that settings of steps by the clock, and operators that learn from a number of
// events, are refused together with the other kind of steps.
func TestSettingsOfTheClockNeedIt(t *testing.T) {
	others := append(slices.Clone(ofUsers[1:]), "ORIEL_STEP_OFFSET=1s", "ORIEL_STEP_GRACE=2s", "ORIEL_STEP_DELAY=5s")
	for _, line := range others {
		name, _, _ := strings.Cut(line, "=")
		_, err := Load(append(minimal(), line), all...)
		if err == nil || !strings.Contains(err.Error(), name+": set, but ORIEL_STEP does not say that steps end by the clock") {
			t.Errorf("%s: %v", line, err)
		}
	}
	_, err := Load(append(minimal(), "ORIEL_START=2026-11-01T00:00:00Z"), all...)
	if err == nil || !strings.Contains(err.Error(), "ORIEL_START: 2026-11-01T00:00:00Z: a time, but the first step of ORIEL_BATCH records is at an offset") {
		t.Errorf("a time by count: %v", err)
	}
	const want = "ORIEL_STEP: set, but ORIEL_OPERATOR=coco learns from a number of events in each step; set ORIEL_BATCH in its place"
	learning := append(minimal(), "ORIEL_STEP=1h", "ORIEL_STREAM=topic", "ORIEL_START=latest")
	for _, lines := range [][]string{nil, {"ORIEL_UPDATE=ogd", "ORIEL_MECHANISM=once-gaussian", "ORIEL_WINDOW="}} {
		if _, err = Load(append(learning, lines...), all...); err == nil || err.Error() != want {
			t.Errorf("a model by the clock: %v", err)
		}
	}
}

// TestReadersAreTheAudienceOfStepsByTheClock checks the defaults of ORIEL_METRICS, and that a value has precedence.
func TestReadersAreTheAudienceOfStepsByTheClock(t *testing.T) {
	for _, lines := range [][]string{minimal(), hourly()} {
		byDefault := notice.Operators
		if slices.Equal(lines, hourly()) {
			byDefault = notice.Readers
		}
		for value, want := range map[string]notice.Audience{
			"": byDefault, "readers": notice.Readers, "operators": notice.Operators,
		} {
			s, err := Load(append(lines, "ORIEL_METRICS="+value), all...)
			if err != nil || s.Audience() != want {
				t.Errorf("ORIEL_METRICS=%s, by the clock %t: %q, want %q: %v", value, s.ByClock(), s.Audience(), want, err)
			}
		}
	}
}
