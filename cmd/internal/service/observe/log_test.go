package observe

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"math"
	"net"
	"regexp"
	"strings"
	"testing"
	"time"

	"oriel/cmd/internal/decisiontest"
	"oriel/cmd/internal/settings"
	"oriel/pipeline/notice"
)

// TestFiguresOfTheLogHaveNames checks that lines in JSON have each figure of ε as a number under a name, so that a log
// search finds it.
func TestFiguresOfTheLogHaveNames(t *testing.T) {
	name := regexp.MustCompile(`^[a-z][a-z0-9_]*$`)
	for want, changes := range map[string][]string{
		"epsilon_within_window epsilon_after_10_windows epsilon_after_100_windows epsilon_after_1000_windows":          nil,
		"epsilon_after_1_step epsilon_after_1_memory epsilon_after_10_memories epsilon_ever":                           {"ORIEL_WINDOW=lifetime", "ORIEL_MEMORY=64"},
		"epsilon_within_window epsilon_after_10_windows epsilon_after_100_windows epsilon_after_1000_windows of users": {"ORIEL_USER_ID=key", "ORIEL_USER_SEPARATION=8"},
		"epsilon_after_1_memory epsilon_after_10_memories epsilon_after_100_memories epsilon_after_1000_memories of users": {
			"ORIEL_WINDOW=lifetime", "ORIEL_MEMORY=64", "ORIEL_USER_ID=key", "ORIEL_USER_SEPARATION=8", "ORIEL_USER_WINDOW=64",
		},
	} {
		s, err := settings.Load(environ(changes...), settings.Events, settings.Operator)
		if err != nil {
			t.Fatal(err)
		}
		g, err := s.Guarantee(decisiontest.Model(t, s))
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		log := slog.New(slog.NewJSONHandler(&out, nil))
		logAges(log, 3, g)
		var last map[string]any
		lines := bytes.Split(bytes.TrimSpace(out.Bytes()), []byte("\n"))
		if err := json.Unmarshal(lines[len(lines)-1], &last); err != nil {
			t.Fatal(err)
		}
		found, before := 0, 0.0
		for _, figure := range regexp.MustCompile(`epsilon_\w+`).FindAllString(want, -1) {
			x, ok := last[figure].(float64)
			if found++; !ok || x < before {
				t.Errorf("%s: %v after %g in %s", figure, last[figure], before, lines[len(lines)-1])
			}
			before = x
		}
		if x := last["epsilon_within_window"]; x != nil && x.(float64) < g.Epsilon {
			t.Errorf("%v is below ε = %g", x, g.Epsilon)
		}
		for key := range last {
			if !name.MatchString(key) {
				t.Errorf("%q is no name of a figure", key)
			}
		}
		if found != 4 || len(last) != 4+3+3 { // beside the figures: time, level, msg; partition, delta, of
			t.Errorf("%s", lines[len(lines)-1])
		}
	}
	if got := fmt.Sprint(rounded("x", math.Inf(1))); got != "x=infinite" {
		t.Errorf("%s", got)
	}
}

// TestStepsByTheClockAreAnnouncedAsDurations checks the first line of the log where steps follow the clock.
func TestStepsByTheClockAreAnnouncedAsDurations(t *testing.T) {
	s, err := settings.Load([]string{
		"ORIEL_STREAM=topic", "ORIEL_OPERATOR=aggregate", "ORIEL_STEP=1h", "ORIEL_CELLS=kind=a|b",
		"ORIEL_MECHANISM=once-gaussian", "ORIEL_EPSILON=1", "ORIEL_DELTA=1e-6", "ORIEL_USER_ID=key", "ORIEL_USER_PERIOD=1d",
		"ORIEL_USER_EVENTS=3",
	}, settings.Events, settings.Operator)
	if err != nil {
		t.Fatal(err)
	}
	g, err := s.Guarantee(decisiontest.Model(t, s))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	Announce(slog.New(slog.NewTextHandler(&out, nil)), s, g, &net.TCPAddr{}, "v1")
	first, _, _ := strings.Cut(out.String(), "\n")
	for _, want := range []string{
		" step=1h0m0s ", " user_period=24h0m0s ", "each period of user_period count", " user_period_events=3 ",
		" unit=user-period",
	} {
		if !strings.Contains(first, want) {
			t.Errorf("no %q in %s", want, first)
		}
	}
}

// TestVoidOrderRecordsAreLoggedOnce checks that void order records are logged when they have lasted ten seconds, and
// once.
func TestVoidOrderRecordsAreLoggedOnce(t *testing.T) {
	var out bytes.Buffer
	l := logging(slog.New(slog.NewTextHandler(&out, nil)), "late", notice.Operators)
	want := func(lines int) {
		t.Helper()
		if n := bytes.Count(out.Bytes(), []byte("\n")); n != lines {
			t.Errorf("%d lines, want %d: %s", n, lines, out.String())
		}
	}
	l.Void(0, 9*time.Second)
	l.Void(0, 0)
	want(0)
	l.Void(0, 10*time.Second)
	l.Void(0, 11*time.Second)
	want(1)
	l.Void(0, 0)
	l.Void(0, 12*time.Second)
	want(3)
}

// environ returns the settings of a guarantee, with changes.
func environ(changes ...string) []string {
	return append([]string{
		"ORIEL_OPERATOR=coco", "ORIEL_UPDATE=projection", "ORIEL_LOSS=logistic", "ORIEL_SET=l2-ball", "ORIEL_RADIUS=5",
		"ORIEL_DIMENSION=8", "ORIEL_STRONG_CONVEXITY=0.001", "ORIEL_MECHANISM=blt", "ORIEL_WINDOW=64", "ORIEL_EPSILON=1",
		"ORIEL_DELTA=1e-6", "ORIEL_CLIP=1",
	}, changes...)
}
