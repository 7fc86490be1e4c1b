package windowtree

import (
	"fmt"
	"testing"

	"oriel/mechanisms/mechtest/goldentest"
	"oriel/mechanisms/mechtest/sumtest"
	"oriel/mechanisms/noise"
)

// TestGoldenReleases pins noisy releases, in lattice units, and states of a tree with W = 4 over 11 steps, into the
// third block. Every CPU and build must give the same bytes.
func TestGoldenReleases(t *testing.T) {
	const n = 3
	scale := noise.Scale{Mant: 3<<20 + 1, Exp: 7} // the scale is 2^28.6
	gamma, err := noise.NewGamma(scale, n)
	if err != nil {
		t.Fatal(err)
	}
	laplace, err := noise.NewLaplace(scale)
	if err != nil {
		t.Fatal(err)
	}
	normal, err := noise.NewGaussian(scale)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, law := range []struct {
		name    string
		sampler noise.Sampler
	}{{"gaussian", normal}, {"gamma", gamma}, {"laplace", laplace}} {
		tree, dst := newTree(t, 4, n, law.sampler), make([]float64, n)
		chain := noise.NewChain([32]byte{8, 31: 5})
		for now := range int64(11) {
			sumtest.Step(tree, chain, dst, 1<<24-now, -5*now, 7)
			lines = append(lines, fmt.Sprintf("%s t=%d %d %d %d", law.name, now+1, int64(dst[0]), int64(dst[1]), int64(dst[2])))
			if now == 2 || now == 10 {
				lines = append(lines, fmt.Sprintf("%s t=%d state %x", law.name, now+1, tree.AppendState(nil)))
			}
		}
	}
	goldentest.Check(t, lines)
}
