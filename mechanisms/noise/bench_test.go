package noise

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// BenchmarkGaussian fills vectors; ns/draw is to be compared with BenchmarkNormFloat64ChaCha8 of the same run. The cost
// of a small vector is the cipher's set-up.
func BenchmarkGaussian(b *testing.B) {
	for _, exp := range []int{0, 10, 29, 40} {
		for _, n := range []int{32, 1024, 16384} {
			b.Run(fmt.Sprintf("s=2^%d/n=%d", exp, n), func(b *testing.B) {
				g, err := NewGaussian(Scale{Mant: 1, Exp: exp})
				if err != nil {
					b.Fatal(err)
				}
				benchmarkFill(b, g, n)
			})
		}
	}
}

// BenchmarkNormFloat64ChaCha8 is the standard library's inexact normal sampler on its cryptographic generator.
func BenchmarkNormFloat64ChaCha8(b *testing.B) {
	r := rand.New(rand.NewChaCha8([32]byte{1}))
	dst := make([]float64, 16384)
	b.ReportAllocs()
	draws := 0
	for b.Loop() {
		for i := range dst {
			dst[i] = r.NormFloat64()
		}
		draws += len(dst)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(draws), "ns/draw")
}

func BenchmarkLaplace(b *testing.B) {
	l, err := NewLaplace(Scale{Mant: 1, Exp: 29})
	if err != nil {
		b.Fatal(err)
	}
	b.Run("s=2^29/n=1024", func(b *testing.B) { benchmarkFill(b, l, 1024) })
}

func BenchmarkGamma(b *testing.B) {
	for _, n := range []int{32, 1024} {
		b.Run(fmt.Sprintf("s=2^29/n=%d", n), func(b *testing.B) {
			g, err := NewGamma(Scale{Mant: 1, Exp: 29}, n)
			if err != nil {
				b.Fatal(err)
			}
			benchmarkFill(b, g, n)
		})
	}
}

func benchmarkFill(b *testing.B, s Sampler, n int) {
	dst := make([]int64, n)
	var seed Seed
	b.ReportAllocs()
	draws := 0
	for b.Loop() {
		seed[0], seed[1] = byte(draws), byte(draws>>8)
		s.Fill(dst, seed)
		draws += n
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(draws), "ns/draw")
}

// BenchmarkSlowPath is one draw decided in math/big alone.
func BenchmarkSlowPath(b *testing.B) {
	draw, err := newPerWord(&gaussianCurve, Scale{Mant: 1, Exp: 29})
	if err != nil {
		b.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 2))
	b.ReportAllocs()
	for b.Loop() {
		draw.slow(r.Uint64(), r.Uint64)
	}
}

func BenchmarkChain(b *testing.B) {
	for _, n := range []int{0, 32, 10000} {
		b.Run(fmt.Sprintf("Absorb/n=%d", n), func(b *testing.B) {
			c := NewChain([32]byte{1})
			leaf := make([]int64, n)
			b.ReportAllocs()
			for b.Loop() {
				c.Absorb(1, 0, Identity{}, leaf)
			}
		})
	}
	b.Run("Seed", func(b *testing.B) {
		c := NewChain([32]byte{1})
		b.ReportAllocs()
		for b.Loop() {
			c.Seed(NodeID{})
		}
	})
}
