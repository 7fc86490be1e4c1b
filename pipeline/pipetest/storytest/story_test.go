package storytest_test

import (
	"flag"
	"testing"

	"oriel/pipeline/pipetest/storytest"
)

// TestStories plays the transcripts in testdata: what a service does on the wire, and what it says, when processes die
// and requests fail.
func TestStories(t *testing.T) { storytest.Run(t, "testdata") }

// TestStoriesOfAWholeTopic plays transcripts with an input that is one stream: its own, and those of TestStories, since
// everything must be the same where the input has one partition. Left out are those that its own tell otherwise.
func TestStoriesOfAWholeTopic(t *testing.T) {
	if rewrite := flag.Lookup("rewrite"); rewrite.Value.String() != "true" {
		storytest.RunWhole(t, "testdata", "grown", "moved", "users", "users-apart", "zombie")
	}
	storytest.RunWhole(t, "testdata/whole")
}
