package blt

import (
	"testing"

	"oriel/mechanisms/lattice"
	"oriel/mechanisms/mechtest/sumtest"
	"oriel/mechanisms/noise"
)

// TestDrawsReachTheRelease checks that draws at the sampler's reach are in the release exactly.
func TestDrawsReachTheRelease(t *testing.T) {
	for _, f := range []Filter{handmade(t), mixed(t), fitFilter(t, 1, 0.3, 0), fitFilter(t, 1024, 0.3, 4)} {
		for _, scale := range []int64{3, 1 << 40} {
			sumtest.DrawsReachTheRelease(t, 29, scale, 4, func(sampler noise.Sampler) sumtest.Sum {
				return newCarry(t, f, float64(scale), 4, sampler)
			})
		}
	}
}

// TestNoiseIsReleaseMinusTotalAndCarry checks that y_t − G_t − M_t = n_t exactly, at the sampler's reach,
// with the carry of the integers that were drawn.
func TestNoiseIsReleaseMinusTotalAndCarry(t *testing.T) {
	const n, scale = 4, 1 << 40
	f, draws := handmade(t), sumtest.Tails(29, scale)
	c := newCarry(t, f, scale, n, &sumtest.Script{Values: draws})
	chain, dst, contribution := noise.NewChain([32]byte{3}), make([]float64, n), make([]int64, n)
	var total [n]int64
	var buffers [n][MaxPoles]lattice.Int128
	for now := range 2 * len(draws) {
		sumtest.Contribution(contribution, now)
		for i, x := range contribution {
			total[i] += x
		}
		sumtest.Step(c, chain, dst, contribution...)
		for i, y := range dst {
			drawn := draws[(now*n+i)%len(draws)]
			m := sumtest.Integer(f.carry(&buffers[i], drawn))
			if got := int64(y) - total[i] - m.Int64(); got != drawn {
				t.Fatalf("step %d, coordinate %d: release exceeds total and carry by %d, drawn was %d", now+1, i+1, got, drawn)
			}
		}
	}
}

func TestTailDrawsReachTheRelease(t *testing.T) {
	sumtest.FarDrawsReachTheRelease(t, noise.NodeID{Block: 1}, func(n int, sampler noise.Sampler) sumtest.Sum {
		c, err := New(handmade(t), noise.Scale{Mant: 1, Exp: 40}, grid, n, sampler, 0)
		if err != nil {
			t.Fatal(err)
		}
		return c
	})
}
