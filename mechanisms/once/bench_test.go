package once

import (
	"fmt"
	"testing"

	"oriel/mechanisms/mechtest/sumtest"
	"oriel/mechanisms/noise"
)

// One block cipher a step, and nothing else.
func TestAddAllocatesOnlyTheCipher(t *testing.T) {
	sampler := gaussian(t, 1<<30)
	chain, dst, leaf := noise.NewChain([32]byte{}), make([]float64, 32), make([]int64, 32)
	seed := chain.Seed(noise.NodeID{})
	cipher := testing.AllocsPerRun(100, func() { sampler.Fill(leaf, seed) })
	clear(leaf)
	for want, o := range map[float64]*Once{cipher: newOnce(t, 32, sampler), 0: newOnce(t, 32, &sumtest.Script{Values: []int64{1, -3}})} {
		got := testing.AllocsPerRun(1000, func() {
			chain.Absorb(o.steps+1, 0, noise.Identity{}, leaf)
			o.Add(dst, leaf, chain)
		})
		if got > want {
			t.Errorf("%g allocations a step, want at most %g", got, want)
		}
	}
}

func BenchmarkAdd(b *testing.B) {
	for _, n := range []int{8, 32, 256} {
		b.Run(fmt.Sprintf("d=%d", n), func(b *testing.B) {
			o := newOnce(b, n, gaussian(b, 1<<30))
			chain, dst, leaf := noise.NewChain([32]byte{}), make([]float64, n), make([]int64, n)
			b.ReportAllocs()
			for b.Loop() {
				chain.Absorb(o.steps+1, 0, noise.Identity{}, leaf)
				o.Add(dst, leaf, chain)
			}
		})
	}
}
