package decay

import (
	"fmt"
	"testing"

	"oriel/mechanisms/mechtest/sumtest"
	"oriel/mechanisms/noise"
)

// TestAddAllocatesOnlyTheCipher runs past a reset, too: the first reset comes after 2048 steps.
func TestAddAllocatesOnlyTheCipher(t *testing.T) {
	sumtest.AddAllocatesOnlyTheCipher(t, 3000, func(n int, sampler noise.Sampler) sumtest.Sum {
		return newCarry(t, written(t)[0], 1<<30, n, sampler)
	})
}

// BenchmarkAdd measures Absorb and Add, as the benchmark of the same name in blt does. H matters only because it
// determines the number of poles, and so the cost of the carry.
func BenchmarkAdd(b *testing.B) {
	for _, n := range []int{8, 32, 256} {
		for _, memory := range []uint64{64, 1 << 10, 1 << 16, 1 << 20} {
			f, err := Fit(memory)
			if err != nil {
				b.Fatal(err)
			}
			b.Run(fmt.Sprintf("d=%d/H=%d/m=%d", n, memory, f.Count), func(b *testing.B) {
				c := newCarry(b, f, 1<<31, n, sumtest.Gaussian(b, 1<<31))
				chain, dst, contribution := noise.NewChain([32]byte{}), make([]float64, n), make([]int64, n)
				v := sumtest.Wide(contribution)
				b.ReportAllocs()
				for b.Loop() {
					chain.Absorb(noise.Identity{}, contribution)
					chain.Close(c.steps + 1)
					c.Add(dst, v, chain)
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
