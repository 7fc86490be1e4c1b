package convex

import (
	"math/rand/v2"
	"testing"
)

func BenchmarkProject(b *testing.B) {
	for _, name := range Names() {
		b.Run("set="+name+"/d=32", func(b *testing.B) {
			p, err := NewProjection(mustParse(b, name, 32, 1))
			if err != nil {
				b.Fatal(err)
			}
			x, dst := normal(rand.New(rand.NewPCG(1, 1)), 32, 1), make([]float64, 32)
			b.ReportAllocs()
			for b.Loop() {
				p.Project(dst, x)
			}
		})
	}
}

func BenchmarkMove(b *testing.B) {
	for _, name := range []string{"l1-ball", "simplex", "box"} {
		b.Run("set="+name+"/d=32", func(b *testing.B) {
			o, err := NewLocalOracle(mustParse(b, name, 32, 1))
			if err != nil {
				b.Fatal(err)
			}
			c := normal(rand.New(rand.NewPCG(1, 1)), 32, 1)
			b.ReportAllocs()
			for b.Loop() {
				o.Move(0.01, 0.01, c)
			}
		})
	}
}
