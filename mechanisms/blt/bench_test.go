package blt

import (
	"fmt"
	"testing"

	"oriel/mechanisms/mechtest/sumtest"
	"oriel/mechanisms/noise"
)

func TestAddAllocatesOnlyTheCipher(t *testing.T) {
	sumtest.AddAllocatesOnlyTheCipher(t, 1000, func(n int, sampler noise.Sampler) sumtest.Sum {
		return newCarry(t, handmade(t), 1<<30, n, sampler)
	})
}

// BenchmarkAdd measures Absorb and Add. At d = 32, where NormFloat64 on ChaCha8 takes 10 ns, a step takes 1.8 µs. HMAC
// takes half: eleven successive SHA-256 blocks of 50 ns, and a third as much for calls; the encoding of chain and seed
// determines their number. The carry takes a quarter: two 128-bit multiplications per pole and coordinate. Draws take a
// sixth, with 25 ns for the cipher's key. Totals and conversions take the rest. No part depends on W.
func BenchmarkAdd(b *testing.B) {
	for _, n := range []int{8, 32, 256} {
		for _, window := range []uint64{1 << 10, 1 << 20} {
			b.Run(fmt.Sprintf("d=%d/W=%d/m=4", n, window), func(b *testing.B) {
				c := newCarry(b, fitFilter(b, window, 0.3, 4), 1<<30, n, sumtest.Gaussian(b, 1<<30))
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

// BenchmarkCarry measures the filter alone, for one coordinate.
func BenchmarkCarry(b *testing.B) {
	for _, poles := range []int{2, 3, 4} {
		b.Run(fmt.Sprintf("m=%d", poles), func(b *testing.B) {
			f := fitFilter(b, 1024, 0.3, poles)
			c := newCarry(b, f, 1<<30, 1, sumtest.Gaussian(b, 1<<30))
			b.ReportAllocs()
			for b.Loop() {
				f.carry(&c.buffers[0], 12345)
			}
		})
	}
}

func BenchmarkFit(b *testing.B) {
	for _, window := range []uint64{1, 1 << 10, 1 << 20} {
		b.Run(fmt.Sprintf("W=%d", window), func(b *testing.B) {
			for b.Loop() {
				fitFilter(b, window, 0.3, 0)
			}
		})
	}
}

func BenchmarkMu(b *testing.B) {
	l := Loss{Filter: fitFilter(b, 1024, 0.3, 4), Square: 1 << 50, N: 32, Scale: noise.ScaleUp(1 << 28)}
	for b.Loop() {
		l.Mu(1 << 40)
	}
}
