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
		fresh, err := decisiontest.Model(t, block.c.Settings).Learner.Params()
		if frozen := decisiontest.Plan(t, block.want); err != nil || !bytes.Equal(fresh, frozen) {
			t.Errorf("%s: calibrated to\n%x, %v, and frozen is\n%x", name, fresh, err, frozen)
		}
	}
}
