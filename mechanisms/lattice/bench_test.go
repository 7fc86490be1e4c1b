package lattice

import (
	"fmt"
	"testing"
)

func TestQuantiseAndFloat64DoNotAllocate(t *testing.T) {
	g := mustGrid(t, 1)
	v, dst, sink := wild(source(t, 5), 32, 0, 4), make([]int64, 32), 0.0
	if n := testing.AllocsPerRun(100, func() {
		g.Quantise(dst, v)
		sink += g.Float64(Int128{Lo: uint64(dst[0])}) + Norm(v) + Dot(v, v)
	}); n != 0 {
		t.Errorf("%g allocations, want 0 (%g)", n, sink)
	}
}

func BenchmarkQuantise(b *testing.B) {
	for _, n := range []int{8, 32, 1024} {
		b.Run(fmt.Sprintf("d=%d", n), func(b *testing.B) {
			g := mustGrid(b, 1)
			v, dst := wild(source(b, 10), n, 0, 4), make([]int64, n)
			b.ReportAllocs()
			for b.Loop() {
				g.Quantise(dst, v)
			}
		})
	}
}

func BenchmarkFloat64(b *testing.B) {
	for i, x := range []Int128{{Hi: -1, Lo: 1 << 63}, {Hi: 5, Lo: 1 << 60}} {
		b.Run(fmt.Sprintf("words=%d", i+1), func(b *testing.B) {
			g := mustGrid(b, 1)
			b.ReportAllocs()
			for b.Loop() {
				g.Float64(x)
			}
		})
	}
}
