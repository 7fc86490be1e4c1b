package service

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"oriel/cmd/internal/decisiontest"
	"oriel/cmd/internal/settings"
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

// TestLogLinesAreJSONIfAsked checks that each line of a log in JSON is one JSON object.
func TestLogLinesAreJSONIfAsked(t *testing.T) {
	var out strings.Builder
	h := Host{Stderr: &out}
	h.logger("warn", "json").Warn("text", "key", 1)
	var line struct{ Msg, Level string }
	if err := json.Unmarshal([]byte(out.String()), &line); err != nil || line.Msg != "text" || line.Level != "WARN" {
		t.Errorf("%q: %v", out.String(), err)
	}
}

// environ returns the settings of a guarantee, with changes.
func environ(changes ...string) []string {
	return append([]string{
		"ORIEL_OPERATOR=coco", "ORIEL_UPDATE=projection", "ORIEL_LOSS=logistic", "ORIEL_SET=l2-ball", "ORIEL_RADIUS=5",
		"ORIEL_DIMENSION=8", "ORIEL_STRONG_CONVEXITY=0.001", "ORIEL_MECHANISM=blt", "ORIEL_WINDOW=64", "ORIEL_EPSILON=1",
		"ORIEL_DELTA=1e-6", "ORIEL_CLIP=1",
	}, changes...)
}

// TestTheServiceLooksAtNoEventForTraps checks the sources of the service and of the commands that start it. They must
// not use a decoder's warnings or explanations. These are for people who may read the input, while the service's log is
// public. Only the writer of dead letters may use them.
func TestTheServiceLooksAtNoEventForTraps(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil || !slices.Contains(files, "run.go") || !slices.Contains(files, "letters.go") {
		t.Fatalf("files %q: %v", files, err)
	}
	files = slices.DeleteFunc(files, func(name string) bool {
		return name == "letters.go" || strings.HasSuffix(name, "_test.go")
	})
	for _, file := range append(files, "../../oriel/run.go", "../../oriel/topics.go") {
		code, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, what := range []string{"traps.", "warn(", ".Problem(", ".Explain(", "DecoderOf("} {
			if bytes.Contains(code, []byte(what)) {
				t.Errorf("%s uses %s", file, what)
			}
		}
	}
}
