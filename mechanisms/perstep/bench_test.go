package perstep

import (
	"fmt"
	"testing"

	"oriel/mechanisms/mechtest/sumtest"
	"oriel/mechanisms/noise"
)

func TestAddAllocatesOnlyTheCipher(t *testing.T) {
	sumtest.AddAllocatesOnlyTheCipher(t, 1000, func(n int, sampler noise.Sampler) sumtest.Sum {
		return newPerStep(t, n, sampler)
	})
}

func BenchmarkAdd(b *testing.B) {
	for _, n := range []int{8, 32, 256} {
		b.Run(fmt.Sprintf("d=%d", n), func(b *testing.B) {
			o := newPerStep(b, n, sumtest.Gaussian(b, 1<<30))
			chain, dst, contribution := noise.NewChain([32]byte{}), make([]float64, n), make([]int64, n)
			v := sumtest.Wide(contribution)
			b.ReportAllocs()
			for b.Loop() {
				chain.Absorb(noise.Identity{}, contribution)
				chain.Close(o.steps + 1)
				o.Add(dst, v, chain)
			}
		})
	}
}
