package noise

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// BenchmarkGaussian fills vectors. A draw takes 1.6 ns for keystream and 5.5 ns for polynomial, rounding and
// certificate on a machine where NormFloat64 takes 10 ns. A vector adds 25 ns for the key and for unused words of its
// last group of 16.
func BenchmarkGaussian(b *testing.B) {
	for _, exp := range []int{0, 10, 29, 40} {
		for _, n := range []int{8, 32, 1024, 16384} {
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

// BenchmarkGaussianBesideNormFloat64 alternates with the standard library's inexact normal sampler on its cryptographic
// generator, and takes medians of the rounds. So the ratio holds even on a machine whose speed varies. One operation is
// 16384 draws of each sampler.
func BenchmarkGaussianBesideNormFloat64(b *testing.B) {
	for _, n := range []int{32, 1024} {
		b.Run(fmt.Sprintf("s=2^29/n=%d", n), func(b *testing.B) {
			g, err := NewGaussian(Scale{Mant: 1, Exp: 29})
			if err != nil {
				b.Fatal(err)
			}
			const draws = 16384
			ours, theirs := make([]int64, n), make([]float64, draws)
			r := rand.New(rand.NewChaCha8([32]byte{1}))
			var seed Seed
			var times, ratios []float64
			b.ReportAllocs()
			for b.Loop() {
				start := time.Now()
				for i := range draws / n {
					seed[0], seed[1], seed[2] = byte(i), byte(i>>8), byte(len(times))
					g.Fill(ours, seed)
				}
				took := float64(time.Since(start))
				start = time.Now()
				for i := range theirs {
					theirs[i] = r.NormFloat64()
				}
				times, ratios = append(times, took/draws), append(ratios, took/float64(time.Since(start)))
			}
			slices.Sort(times)
			slices.Sort(ratios)
			b.ReportMetric(times[len(times)/2], "ns/draw")
			b.ReportMetric(ratios[len(ratios)/2], "of-NormFloat64")
		})
	}
}

func BenchmarkLaplace(b *testing.B) {
	l, err := NewLaplace(Scale{Mant: 1, Exp: 29})
	if err != nil {
		b.Fatal(err)
	}
	b.Run("s=2^29/n=1024", func(b *testing.B) { benchmarkFill(b, l, 1024) })
}

// BenchmarkDiscreteLaplace fills vectors of one column, and of a count beside a sum.
func BenchmarkDiscreteLaplace(b *testing.B) {
	for name, steps := range map[string][]int64{"count": {1 << 24}, "count, sum": {1 << 24, 1}} {
		b.Run(name+"/n=1024", func(b *testing.B) {
			d, err := NewDiscreteLaplace(Scale{Mant: 1, Exp: 24}, steps)
			if err != nil {
				b.Fatal(err)
			}
			benchmarkFill(b, d, 1024)
		})
	}
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

// BenchmarkSlowPath measures a draw by the slow path, in math/big.
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

// BenchmarkChain measures an event, and a step with an event in each partition. An event costs the compressions of its
// own bytes; an HMAC of the same message would cost three more.
func BenchmarkChain(b *testing.B) {
	for _, n := range []int{0, 1, 32, 64, 512, 10000} {
		b.Run(fmt.Sprintf("Absorb/n=%d", n), func(b *testing.B) {
			c, contribution := NewChain([32]byte{1}), make([]int64, n)
			b.ReportAllocs()
			for b.Loop() {
				c.Absorb(Identity{}, contribution)
			}
		})
	}
	for _, partitions := range []int32{1, 64} {
		b.Run(fmt.Sprintf("Step/partitions=%d", partitions), func(b *testing.B) {
			c, contribution := NewChain([32]byte{1}), []int64{1}
			b.ReportAllocs()
			for b.Loop() {
				for p := range partitions {
					c.Absorb(Identity{Partition: p}, contribution)
				}
				c.Close(1)
				c.Drawn()
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
