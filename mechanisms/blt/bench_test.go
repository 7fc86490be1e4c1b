package blt

import (
	"fmt"
	"testing"

	"oriel/mechanisms/noise"
)

// One block cipher a step, and nothing else.
func TestAddAllocatesOnlyTheCipher(t *testing.T) {
	f, sampler := handmade(t), gaussian(t, 1<<30)
	chain, dst, leaf := noise.NewChain([32]byte{}), make([]float64, 32), make([]int64, 32)
	seed := chain.Seed(noise.NodeID{})
	cipher := testing.AllocsPerRun(100, func() { sampler.Fill(leaf, seed) })
	clear(leaf)
	for want, c := range map[float64]*Carry{
		cipher: newCarry(t, f, 1<<30, 32, sampler),
		0:      newCarry(t, f, 1<<30, 32, &script{values: []int64{1, -3}}),
	} {
		got := testing.AllocsPerRun(1000, func() {
			chain.Absorb(c.steps+1, 0, noise.Identity{}, leaf)
			c.Add(dst, leaf, chain)
		})
		if got > want {
			t.Errorf("%g allocations a step, want at most %g", got, want)
		}
	}
}

func BenchmarkAdd(b *testing.B) {
	for _, n := range []int{8, 32, 256} {
		for _, window := range []uint64{1 << 10, 1 << 20} {
			b.Run(fmt.Sprintf("d=%d/W=%d/m=4", n, window), func(b *testing.B) {
				c := newCarry(b, fitFilter(b, window, 0.3, 4), 1<<30, n, gaussian(b, 1<<30))
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

// BenchmarkCarry is the filter alone, a coordinate.
func BenchmarkCarry(b *testing.B) {
	f := fitFilter(b, 1024, 0.3, 4)
	c := newCarry(b, f, 1<<30, 1, gaussian(b, 1<<30))
	for b.Loop() {
		f.carry(&c.buffers[0], 12345)
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
	l := Loss{Filter: fitFilter(b, 1024, 0.3, 4), Delta: 1 << 25, N: 32, Scale: noise.ScaleUp(1 << 28)}
	for b.Loop() {
		l.Mu(1 << 40)
	}
}
