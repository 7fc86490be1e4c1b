package storytest

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/cockroachdb/datadriven"

	"oriel/pipeline/pipetest"
	"oriel/pipeline/pipetest/simtest"
)

// Run plays every story of a directory.
func Run(t *testing.T, dir string) { run(t, dir, false, nil) }

// RunWhole plays the stories of a directory except those named in but, with an input that is one stream.
func RunWhole(t *testing.T, dir string, but ...string) { run(t, dir, true, but) }

func run(t *testing.T, dir string, whole bool, but []string) {
	t.Helper()
	pipetest.EachStory(t, dir, func(t *testing.T, path string) {
		if slices.Contains(but, strings.TrimSuffix(filepath.Base(path), ".txt")) {
			t.Skip("its streams are partitions")
		}
		synctest.Test(t, func(t *testing.T) {
			s := &story{members: map[string]*simtest.Member{}, whole: whole}
			datadriven.RunTest(t, path, s.play)
		})
	})
}

// plain removes the partition of the input from a text; only the stream of a whole input names it.
func (s *story) plain(text string) string {
	if s.whole {
		return strings.NewReplacer(" in partition 0 of the input", "", "partition 0 of the input", "the input").Replace(text)
	}
	return text
}
