package files

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestMasterKeyIsPrintedByACommand checks that a program's output is accepted if it is a key. Otherwise the error must
// quote nothing of the output.
func TestMasterKeyIsPrintedByACommand(t *testing.T) {
	const digits = "5ec4e75ec4e75ec4e75ec4e75ec4e75ec4e75ec4e75ec4e75ec4e75ec4e75ec4"
	folder := t.TempDir()
	script := func(name, text string) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for _, c := range []struct{ name, command, want string }{
		{"printed", script("good", "cat; echo "+digits), ""},
		{"by arguments", "printf %s " + digits, ""},
		{"no shell", "printf %s $(echo " + digits + ")", "64 hexadecimal digits"},
		{"no key", script("none", "echo secret"), "64 hexadecimal digits"},
		{"two keys", script("two", "echo "+digits+digits), "64 hexadecimal digits"},
		{"without end", script("endless", "head -c 100000 /dev/zero | tr '\\0' 5"), "64 hexadecimal digits"},
		{"no digits", script("letters", "echo "+strings.Repeat("secretly", 8)), "hexadecimal digits only"},
		{"failed", script("failed", "echo "+digits+"; echo secret >&2; exit 3"), "failed: exit status 3"},
		{"no program", filepath.Join(folder, "absent"), "no such file"},
	} {
		key, err := MasterKey(t.Context(), "", c.command)
		switch {
		case c.want == "":
			if err != nil || key == nil {
				t.Errorf("%s: %v", c.name, err)
			}
		case err == nil || key != nil || !strings.HasPrefix(err.Error(), "ORIEL_MASTER_KEY_COMMAND: ") ||
			!strings.Contains(err.Error(), c.want):
			t.Errorf("%s: %v, want %s", c.name, err, c.want)
		case strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "5ec4"):
			t.Errorf("%s: quotes what the command wrote: %v", c.name, err)
		}
	}
}

func TestACommandThatHangsIsEnded(t *testing.T) {
	start := time.Now()
	_, err := printed(context.Background(), []string{"sleep", "60"}, 50*time.Millisecond)
	if err == nil || err.Error() != "sleep: not done after 50ms" || time.Since(start) > 20*time.Second {
		t.Errorf("%v after %v", err, time.Since(start))
	}
}
