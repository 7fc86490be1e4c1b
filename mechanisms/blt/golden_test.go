package blt

import (
	"fmt"
	"testing"

	"oriel/mechanisms/mechtest/goldentest"
	"oriel/mechanisms/mechtest/sumtest"
	"oriel/mechanisms/noise"
)

// TestGoldenReleases pins noisy releases, in lattice units, and states. Every CPU and build must give the same bytes.
// Filters are literals, because fits may differ between platforms.
func TestGoldenReleases(t *testing.T) {
	const n = 3
	slow := Filter{
		Poles:    [MaxPoles]uint32{1<<30 - 700, 1<<30 - 44_000, 1<<30 - 2_000_001, 984_000_000},
		Residues: [MaxPoles]int32{2_400_000, 11_000_003, 68_000_000, 350_000_000},
		Count:    4,
	}
	slow.Shift, _ = slow.shift()
	scale := noise.Scale{Mant: 3<<20 + 1, Exp: 7} // the scale is 2^28.6
	normal, err := noise.NewGaussian(scale)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, f := range []Filter{handmade(t), slow, mixed(t)} {
		c, err := New(f, scale, grid, n, normal, 3)
		if err != nil {
			t.Fatal(err)
		}
		chain, dst := noise.NewChain([32]byte{8, 31: 5}), make([]float64, n)
		for now := range int64(40) {
			sumtest.Step(c, chain, dst, 1<<24-now, -5*now, 7)
			lines = append(lines, fmt.Sprintf("m=%d t=%d %d %d %d", f.Count, now+1, int64(dst[0]), int64(dst[1]), int64(dst[2])))
			if now == 2 || now == 39 {
				lines = append(lines, fmt.Sprintf("m=%d t=%d state %x", f.Count, now+1, c.AppendState(nil)))
			}
		}
	}
	goldentest.Check(t, lines)
}
