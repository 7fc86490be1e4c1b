package storytest

import (
	"flag"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/cockroachdb/datadriven"

	"oriel/pipeline/pipetest"
	"oriel/pipeline/pipetest/simtest"
)

// TestStories plays the transcripts in testdata: the requests and messages of a service when processes die and requests
// fail.
func TestStories(t *testing.T) { run(t, "testdata", false) }

// TestStoriesOfAWholeTopic plays transcripts with an input that is one stream. It plays its own stories, and the
// stories of TestStories, because with one partition the results must be the same. It leaves out stories of which it
// has its own version.
func TestStoriesOfAWholeTopic(t *testing.T) {
	if rewrite := flag.Lookup("rewrite"); rewrite.Value.String() != "true" {
		run(t, "testdata", true, "grown", "moved", "users", "users-apart", "zombie")
	}
	run(t, "testdata/whole", true)
}

// run plays the stories of a directory except those named in but. If whole is true, the input is one stream.
func run(t *testing.T, dir string, whole bool, but ...string) {
	t.Helper()
	pipetest.EachStory(t, dir, func(t *testing.T, path string) {
		if slices.Contains(but, strings.TrimSuffix(filepath.Base(path), ".txt")) {
			t.Skip("its streams are partitions")
		}
		synctest.Test(t, func(t *testing.T) {
			s := &story{
				name: filepath.Base(path), members: map[string]*simtest.Member{}, groups: map[string]string{}, whole: whole,
			}
			datadriven.RunTest(t, path, s.play)
		})
	})
}

// plain removes the partition of the input from a text; because only the stream of a whole topic names it.
func (s *story) plain(text string) string {
	if s.whole {
		return strings.NewReplacer(" in partition 0 of the input", "", "partition 0 of the input", "the input").Replace(text)
	}
	return text
}
