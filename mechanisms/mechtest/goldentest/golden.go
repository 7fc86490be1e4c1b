package goldentest

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var rewrite = flag.Bool("rewrite", false, "write golden files of testdata")

// Check fails t for each line that differs from the stored one, and if lines are missing or added.
func Check(t testing.TB, lines []string) {
	t.Helper()
	CheckFile(t, "golden.txt", lines)
}

// CheckFile is Check with the named file of testdata, in the folder of the test's own package.
func CheckFile(t testing.TB, name string, lines []string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *rewrite {
		if err := os.WriteFile(file, []byte(strings.Join(lines, "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	stored, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Split(strings.TrimSuffix(string(stored), "\n"), "\n")
	if len(lines) != len(want) {
		t.Errorf("%d lines, stored are %d", len(lines), len(want))
	}
	for i := range min(len(lines), len(want)) {
		if lines[i] != want[i] {
			t.Errorf("got %q, stored %q", lines[i], want[i])
		}
	}
}
