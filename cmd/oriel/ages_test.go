package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"math"
	"regexp"
	"testing"

	"oriel/cmd/internal/settings"
)

// TestFiguresOfTheLogHaveNames: what JSON lines say of ε is numbers under names, so that a search finds them.
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
		s, err := settings.Load(planEnviron(changes...), settings.Events, settings.Operator)
		if err != nil {
			t.Fatal(err)
		}
		g, err := s.Guarantee(model(t, s))
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
		if found != 4 || len(last) != 4+3+3 { // time, level, msg; partition, delta, of
			t.Errorf("%s", lines[len(lines)-1])
		}
	}
	if got := fmt.Sprint(rounded("x", math.Inf(1))); got != "x=infinite" {
		t.Errorf("%s", got)
	}
}
