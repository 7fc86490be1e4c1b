package forget

import (
	"fmt"
	"testing"

	"oriel/mechanisms/mechtest/sumtest"
	"oriel/mechanisms/noise"
)

// One block cipher a step, where the processor does not make it without, and nothing else; at a reset too.
func TestAddAllocatesOnlyTheCipher(t *testing.T) {
	f, sampler := written(t)[0], gaussian(t, 1<<30)
	chain, dst, leaf := noise.NewChain([32]byte{}), make([]float64, 32), make([]int64, 32)
	seed := chain.Seed(noise.NodeID{})
	cipher := testing.AllocsPerRun(100, func() { sampler.Fill(leaf, seed) })
	clear(leaf)
	for want, c := range map[float64]*Carry{
		cipher: newCarry(t, f, 1<<30, 32, sampler),
		0:      newCarry(t, f, 1<<30, 32, &sumtest.Script{Values: []int64{1, -3}}),
	} {
		got := testing.AllocsPerRun(3000, func() {
			chain.Absorb(c.steps+1, 0, noise.Identity{}, leaf)
			c.Add(dst, leaf, chain)
		})
		if got > want {
			t.Errorf("%g allocations a step, want at most %g", got, want)
		}
	}
}

// BenchmarkAdd is Absorb and Add, beside blt's of the same name: nothing depends on H but the number of poles, and by it the carry.
func BenchmarkAdd(b *testing.B) {
	for _, n := range []int{8, 32, 256} {
		for _, memory := range []uint64{64, 1 << 10, 1 << 16, 1 << 20} {
			f, err := Fit(memory)
			if err != nil {
				b.Fatal(err)
			}
			b.Run(fmt.Sprintf("d=%d/H=%d/m=%d", n, memory, f.Count), func(b *testing.B) {
				c := newCarry(b, f, 1<<31, n, gaussian(b, 1<<31))
				chain, dst, leaf := noise.NewChain([32]byte{}), make([]float64, n), make([]int64, n)
				b.ReportAllocs()
				for b.Loop() {
					chain.Absorb(c.steps+1, 0, noise.Identity{}, leaf)
					c.Add(dst, leaf, chain)
				}
			})
		}
	}
}

func BenchmarkWeight(b *testing.B) {
	for b.Loop() {
		Weight(65_536, 1<<30)
	}
}
