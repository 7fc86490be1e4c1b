package storytest_test

import (
	"testing"

	"oriel/pipeline/pipetest/storytest"
)

// TestStories plays the transcripts in testdata: what a service does on the wire, and what it says, when processes die
// and requests fail.
func TestStories(t *testing.T) { storytest.Run(t, "testdata") }
