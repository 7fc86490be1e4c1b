package pipetest

import (
	"path/filepath"
	"strings"
	"testing"
)

// EachStory plays each story of a folder, a .txt file, as a subtest with its name. It fails if the folder has none.
func EachStory(t *testing.T, dir string, play func(t *testing.T, path string)) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*.txt"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no stories in %s: %v", dir, err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txt"), func(t *testing.T) { play(t, path) })
	}
}
