package storytest_test

import (
	"flag"
	"testing"

	"oriel/pipeline/pipetest/storytest"
)

// TestStories plays the transcripts in testdata: the requests and messages of a service when processes die and requests
// fail.
func TestStories(t *testing.T) { storytest.Run(t, "testdata") }

// TestStoriesOfAWholeTopic plays transcripts with an input that is one stream: its own, and those of TestStories,
// because the results must be the same if the input has one partition. It leaves out those of which it has its own
// version.
func TestStoriesOfAWholeTopic(t *testing.T) {
	if rewrite := flag.Lookup("rewrite"); rewrite.Value.String() != "true" {
		storytest.RunWhole(t, "testdata", "grown", "moved", "users", "users-apart", "zombie")
	}
	storytest.RunWhole(t, "testdata/whole")
}
