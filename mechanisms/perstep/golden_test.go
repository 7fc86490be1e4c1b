package perstep

import (
	"fmt"
	"testing"

	"oriel/mechanisms/mechtest/goldentest"
	"oriel/mechanisms/mechtest/sumtest"
	"oriel/mechanisms/noise"
)

// TestGoldenReleases pins noisy releases, in lattice units, and states. Every CPU and build must give the same bytes.
func TestGoldenReleases(t *testing.T) {
	const n = 3
	const scale = (3<<20 + 1) << 7 // the scale is 2^28.6
	var lines []string
	for _, law := range []struct {
		name    string
		sampler noise.Sampler
	}{{"gaussian", sumtest.Gaussian(t, scale)}, {"gamma", gamma(t, scale, n)}} {
		o, chain, dst := newPerStep(t, n, law.sampler), noise.NewChain([32]byte{8, 31: 5}), make([]float64, n)
		for now := range int64(12) {
			sumtest.Step(o, chain, dst, 1<<24-now, -5*now, 7)
			lines = append(lines, fmt.Sprintf("%s t=%d %d %d %d", law.name, now+1, int64(dst[0]), int64(dst[1]), int64(dst[2])))
		}
		lines = append(lines, fmt.Sprintf("%s state %x", law.name, o.AppendState(nil)))
	}
	goldentest.Check(t, lines)
}
