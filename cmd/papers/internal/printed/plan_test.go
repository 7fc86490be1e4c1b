//go:build amd64 && !amd64.v3

package printed

import (
	"bytes"
	"testing"

	"oriel/cmd/internal/decisiontest"
)

// TestGoldenPlansAreStillComputed checks that calibration still gives the frozen plans, on the platform on which they
// were frozen. On other platforms the last bits may differ.
func TestGoldenPlansAreStillComputed(t *testing.T) {
	for name, block := range goldenBlocks(t) {
		if got, want := block.plan(t), decisiontest.Plan(t, block.want); !bytes.Equal(got, want) {
			t.Errorf("%s: plan %x, want %x", name, got, want)
		}
	}
}
