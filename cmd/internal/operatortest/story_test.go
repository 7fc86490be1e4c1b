package operatortest_test

import (
	"path/filepath"
	"testing"

	"oriel/cmd/internal/operatortest"
	"oriel/cmd/internal/registry"
)

// TestOperatorStories plays the transcripts of every operator: what a user sends, what is decided, what is refused, and
// that a killed process and a replay give the same bytes.
func TestOperatorStories(t *testing.T) {
	for _, family := range registry.All {
		t.Run(family.Name, func(t *testing.T) {
			operatortest.Run(t, filepath.Join("../../../operators", family.Name, "testdata/stories"))
		})
	}
}
