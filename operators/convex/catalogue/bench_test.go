package catalogue

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"oriel/operators/convex"
	"oriel/operators/convex/choice"
)

func BenchmarkProject(b *testing.B) {
	for _, name := range Names() {
		if !projected(name) {
			continue
		}
		s := mustParse(b, name, 32, 1)
		b.Run(fmt.Sprintf("set=%s/d=%d", name, s.Dimension()), func(b *testing.B) {
			p, err := convex.NewProjection(s)
			if err != nil {
				b.Fatal(err)
			}
			x, dst := normal(rand.New(rand.NewPCG(1, 1)), s.Dimension(), 1), make([]float64, s.Dimension())
			b.ReportAllocs()
			for b.Loop() {
				p.Project(dst, x)
			}
		})
	}
}

func BenchmarkMove(b *testing.B) {
	for _, name := range []string{"l1-ball", "simplex", "box", "subsets", "partition"} {
		b.Run("set="+name+"/d=32", func(b *testing.B) {
			o, err := convex.NewLocalOracle(mustParse(b, name, 32, 1))
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

// BenchmarkLinear measures finding one vertex for random costs. Flows and matchings have their own benchmarks.
func BenchmarkLinear(b *testing.B) {
	for _, name := range []string{"trees", "ranking", "subsets", "spectrahedron", "trace-norm"} {
		for _, n := range []int{16, 144, 1024} {
			if n > 144 && (name == "spectrahedron" || name == "trace-norm") {
				continue // one minimisation takes milliseconds
			}
			s := mustParse(b, name, n, 1)
			b.Run(fmt.Sprintf("set=%s/d=%d", name, s.Dimension()), func(b *testing.B) {
				o := convex.NewLinearOracle(s)
				cost, dst := normal(rand.New(rand.NewPCG(1, 1)), s.Dimension(), 1), make([]float64, s.Dimension())
				b.ReportAllocs()
				for b.Loop() {
					o.Minimise(dst, cost)
				}
			})
		}
	}
}

// BenchmarkFlow measures moves on square grids of 8 to 71 vertices a side, after enough moves to spread the flow out.
func BenchmarkFlow(b *testing.B) {
	for _, side := range []int{8, 16, 23, 40, 71} {
		f := parseFlow(b, grid(side), 1)
		rng := rand.New(rand.NewPCG(1, 1))
		costs := make([][]float64, 64)
		for i := range costs {
			costs[i] = normal(rng, f.Dimension(), 1)
		}
		b.Run(fmt.Sprintf("minimise/d=%d", f.Dimension()), func(b *testing.B) {
			oracle, dst := f.Linear(), make([]float64, f.Dimension())
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				oracle.Minimise(dst, costs[i%len(costs)])
			}
		})
		b.Run(fmt.Sprintf("move/d=%d", f.Dimension()), func(b *testing.B) {
			o := f.LocalOracle()
			for i := range 1000 {
				o.Move(0.02, 1, costs[i%len(costs)])
			}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				o.Move(0.02, 0.1/math.Sqrt(float64(f.Dimension())), costs[i%len(costs)])
			}
		})
	}
}

// BenchmarkMatching measures moves on matrices, from a mix that is spread out.
func BenchmarkMatching(b *testing.B) {
	for _, side := range []int{8, 16, 32} {
		m := mustParse(b, "matching", side*side, 1).(choice.Matching)
		c := normal(rand.New(rand.NewPCG(1, 1)), side*side, 1)
		b.Run(fmt.Sprintf("minimise/k=%d", side), func(b *testing.B) {
			oracle, dst := m.Linear(), make([]float64, side*side)
			b.ReportAllocs()
			for b.Loop() {
				oracle.Minimise(dst, c)
			}
		})
		b.Run(fmt.Sprintf("move/k=%d", side), func(b *testing.B) {
			o := m.LocalOracle()
			b.ReportAllocs()
			for b.Loop() {
				o.Move(0.01, 0.1/float64(side), c)
			}
		})
	}
}

// BenchmarkTangent measures projecting the costs of flows: layers of a few vertices, and square grids.
func BenchmarkTangent(b *testing.B) {
	for name, edges := range map[string][]string{
		"layers/V=42/d=272": layered(5, 8), "square/V=529/d=1012": grid(23), "square/V=5041/d=9940": grid(71),
	} {
		b.Run(name, func(b *testing.B) {
			tangent, err := convex.NewTangent(parseFlow(b, edges, 1))
			if err != nil {
				b.Fatal(err)
			}
			v := normal(rand.New(rand.NewPCG(1, 1)), len(edges), 1)
			b.ReportAllocs()
			for b.Loop() {
				tangent.Project(v)
			}
		})
	}
}
