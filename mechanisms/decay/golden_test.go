package decay

import (
	"fmt"
	"testing"

	"oriel/mechanisms/mechtest/goldentest"
	"oriel/mechanisms/mechtest/sumtest"
	"oriel/mechanisms/noise"
)

// TestGoldenReleases pins the bits of noisy releases, and states, across a reset. Every CPU and build must give the
// same bytes.
func TestGoldenReleases(t *testing.T) {
	const n = 3
	scale := noise.Scale{Mant: 3<<20 + 1, Exp: 10} // the scale is 2^31.6
	normal, err := noise.NewGaussian(scale)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, f := range written(t) {
		c, err := New(f, scale, grid, n, normal, 3)
		if err != nil {
			t.Fatal(err)
		}
		chain, dst := noise.NewChain([32]byte{8, 31: 5}), make([]float64, n)
		for now := range int64(30) {
			if now == 15 { // jumps to five steps before a reset
				c.steps = Period(f.Memory) - 5
			}
			sumtest.Step(c, chain, dst, 1<<26-now, -5*now, 7)
			lines = append(lines, fmt.Sprintf("m=%d t=%d %x", f.Count, c.steps, dst))
			if now == 2 || now == 29 {
				lines = append(lines, fmt.Sprintf("m=%d t=%d state %x", f.Count, c.steps, c.AppendState(nil)))
			}
		}
	}
	goldentest.Check(t, lines)
}
