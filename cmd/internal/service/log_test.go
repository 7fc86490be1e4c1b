package service

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

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

// TestTheServiceLooksAtNoEventForTraps checks the sources of the service and of the commands that start it. They must
// not use a decoder's warnings or explanations. These are for people who may read the input, while the service's log is
// public. Only the writer of dead letters may use them.
func TestTheServiceLooksAtNoEventForTraps(t *testing.T) {
	files, err := filepath.Glob("*.go")
	below, _ := filepath.Glob("*/*.go")
	files = append(files, below...)
	if err != nil || len(below) == 0 || !slices.Contains(files, "run.go") || !slices.Contains(files, "letters.go") {
		t.Fatalf("files %q: %v", files, err)
	}
	files = slices.DeleteFunc(files, func(name string) bool {
		return name == "letters.go" || strings.HasSuffix(name, "_test.go")
	})
	for _, file := range append(files, "../../oriel/run.go") {
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
