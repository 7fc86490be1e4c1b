//go:build amd64 && !amd64.v3

package decisiontest

import (
	"bytes"
	"testing"
)

// TestGoldenPlansAreStillComputed checks that calibration still gives the golden plans on the platform on which they
// were frozen.
func TestGoldenPlansAreStillComputed(t *testing.T) {
	t.Parallel()
	blocks := Blocks(t)
	for _, c := range Cases(t) {
		plan := c.plan(t)
		if want := Plan(t, blocks[c.String()]); !bytes.Equal(plan, want) {
			t.Errorf("%v: plan %x, want %x", c, plan, want)
		}
	}
}
