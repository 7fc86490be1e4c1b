package pipetest

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Plant plants a fault: it writes an overlay for the go tool in which a file has another text, which it must have once.
func Plant(t *testing.T, file, text, other string) (overlay string) {
	t.Helper()
	path, err := filepath.Abs(file)
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Count(string(source), text) != 1 {
		t.Fatalf("%s does not have %q once", file, text)
	}
	dir := t.TempDir()
	mutant := filepath.Join(dir, filepath.Base(file))
	overlay = filepath.Join(dir, "overlay.json")
	list, err := json.Marshal(map[string]map[string]string{"Replace": {path: mutant}})
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{
		mutant:  strings.Replace(string(source), text, other, 1),
		overlay: string(list),
	} {
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return overlay
}

// GoTool runs the go tool, and reports what it said and whether it was content. Tests that it runs have their short
// form, because a fault that the first tier would not see is not found by it.
func GoTool(t *testing.T, args ...string) (said string, ok bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Env = append(cmd.Environ(), "TEST_LONG=")
	out, err := cmd.CombinedOutput()
	return string(out), err == nil
}
