//go:build amd64 && !amd64.v3

package printed

import (
	"bytes"
	"encoding/binary"
	"testing"

	"oriel/cmd/internal/decisiontest"
	"oriel/mechanisms"
)

// TestGoldenPlansAreStillComputed checks that calibration still gives the frozen plans, on the platform on which they
// were frozen. On other platforms the last bits may differ.
func TestGoldenPlansAreStillComputed(t *testing.T) {
	for name, block := range goldenBlocks(t) {
		learner, err := block.c.Settings.Learner()
		if err != nil {
			t.Fatal(err)
		}
		calibrated, err := mechanisms.Calibrate(learner.Mechanism())
		if err != nil {
			t.Fatal(err)
		}
		plan := decisiontest.Plan(t, block.want)
		fresh, err := calibrated.AppendBinary(nil)
		if frozen := plan[4 : 4+binary.LittleEndian.Uint32(plan)&^(1<<31)]; err != nil || !bytes.Equal(fresh, frozen) {
			t.Errorf("%s: calibrated to\n%x, %v, and frozen is\n%x", name, fresh, err, frozen)
		}
	}
}
