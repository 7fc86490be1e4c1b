package coco

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"oriel/mechanisms"
	"oriel/mechanisms/protection"
	"oriel/operators"
	"oriel/operators/convex"
	"oriel/schemas/decision"
	"oriel/schemas/event"
)

// BenchmarkAdd measures one event, which is one step with one decision: logistic loss, dense features, W = 1024, and
// the noise of a tree.
func BenchmarkAdd(b *testing.B) {
	for _, c := range []struct{ update, set string }{
		{Projection, "l2-ball"},
		{Projection, "l1-ball"},
		{Projection, "simplex"},
		{Projection, "box"},
		{LLO, "l1-ball"},
		{LLO, "simplex"},
		{LLO, "box"},
		{OGD, "l2-ball"},
	} {
		b.Run(fmt.Sprintf("update=%s/set=%s/d=32", c.update, c.set), func(b *testing.B) {
			config := sample(b, c.set, 32)
			config.Update, config.Loss = c.update, mustLoss(b, "logistic")
			benchmark(b, open(b, config, mechanism(config, 1024, 1), 1))
		})
	}
	b.Run("update=projection/set=l2-ball/contributions=centre/d=32", func(b *testing.B) {
		config := logistic(b, 32)
		benchmark(b, open(b, config, sharpest(config, mechanism(config, 1024, 1)), 1))
	})
	for name, change := range map[string]func(*mechanisms.Config){
		"blt/W=1024":  func(m *mechanisms.Config) { m.AgeWeight = 0.3 },
		"blt/H=65536": func(m *mechanisms.Config) { m.Scope = protection.Decay{Steps: 65_536} },
	} {
		b.Run("update=projection/set=l2-ball/d=32/"+name, func(b *testing.B) {
			config := logistic(b, 32)
			m := mechanism(config, 1024, 1)
			m.Name = "blt"
			change(&m)
			benchmark(b, open(b, config, m, 1))
		})
	}
	for _, loss := range []string{"squared", "logistic"} { // squared has two columns of misses, logistic one
		for _, level := range []float64{0, 0.9} {
			b.Run(fmt.Sprintf("loss=%s/H=65536/band=%g/d=32", loss, level), func(b *testing.B) {
				config, m := bandedOrNot(b, loss, level)
				benchmark(b, open(b, config, m, 1))
			})
		}
	}
	b.Run("noise=none/update=projection/set=l2-ball/d=32", func(b *testing.B) {
		config := sample(b, "l2-ball", 32)
		config.Loss = mustLoss(b, "logistic")
		benchmark(b, quiet(b, config, mechanism(config, 1024, 1)))
	})
}

func benchmark(b *testing.B, m *Machine) {
	counted := operators.ByCount(m)
	rng := rand.New(rand.NewPCG(1, 1))
	events := make([]event.Event, 64)
	for i := range events {
		events[i] = event.Event{Vector: event.Vector{Values: direction(rng, 32, 1)}, Label: float64(1 - i%2*2), Weight: 1}
	}
	var dst []operators.Decision
	i := 0
	b.ReportAllocs()
	for b.Loop() {
		dst = counted.Add(dst[:0], record(i, events[i%len(events)]))
		i++
	}
}

func BenchmarkAppendState(b *testing.B) {
	config := sample(b, "l1-ball", 32)
	config.Update = LLO
	m := open(b, config, mechanism(config, 1024, 1), 1)
	var dst []byte
	b.ReportAllocs()
	for b.Loop() {
		dst = m.AppendState(dst[:0])
	}
	b.SetBytes(int64(len(dst)))
}

// grown returns a searched update on a set after some steps of 64 events around a mean, at ε = 1, and the private sum
// after each step.
func grown(b *testing.B, set convex.Set, first string, steps int) (u *local, sums [][]float64) {
	b.Helper()
	c := sample(b, "box", 1)
	c.Update, c.Constants, c.Set, c.StrongConvexity, c.Clip, c.First = LLO, Search, set, 0.1, 10, first
	if first != "" { // with a start regulariser, x keeps a share of x_1
		c.StrongConvexity, c.StartRegularizer = 0.01, 1000
	}
	mechanism := mechanism(c, 1024, 64)
	mechanism.Name = "blt"
	m := open(b, c, mechanism, 1)
	counted := operators.ByCount(m)
	rng := rand.New(rand.NewPCG(1, 2))
	mean, cost := make([]float64, set.Dimension()), make([]float64, set.Dimension())
	for i := range mean {
		mean[i] = rng.Float64()
	}
	for k := range 64 * steps {
		for i := range cost {
			cost[i] = mean[i] + 0.3*rng.NormFloat64()
		}
		if len(counted.Add(nil, record(k, linear(cost)))) > 0 {
			sums = append(sums, slices.Clone(m.Stream.Sum(0)))
		}
	}
	return m.update.(*local), sums
}

// BenchmarkSearch measures one searched step, without the noise and without the gradient of an event.
func BenchmarkSearch(b *testing.B) {
	sets := map[string]func(d int) convex.Set{
		"flow": func(d int) convex.Set { return square(b, 1+int(math.Sqrt(float64(d)/2))) },
		"matching": func(d int) convex.Set {
			k := int(math.Sqrt(float64(d)))
			return mustSet(b, "matching", k*k, 1)
		},
	}
	for _, name := range []string{"simplex", "l1-ball", "box", "subsets", "partition", "trees", "ranking"} {
		sets[name] = func(d int) convex.Set { return mustSet(b, name, d, 1) }
	}
	for _, name := range slices.Sorted(maps.Keys(sets)) {
		for _, d := range []int{112, 1012, 3120} {
			set := sets[name](d)
			b.Run(fmt.Sprintf("set=%s/d=%d", name, set.Dimension()), func(b *testing.B) {
				const steps = 30
				u, sums := grown(b, set, "", steps)
				b.ReportAllocs()
				for i := 0; b.Loop(); i++ {
					u.step(steps+1, sums[i%len(sums)])
				}
			})
		}
	}
}

// BenchmarkDecision measures the encoding of a decision on a grid, dense and sparse. A start regulariser keeps the
// decision close to x_1, which is the spread point or a vertex.
func BenchmarkDecision(b *testing.B) {
	for _, side := range []int{8, 23, 40} {
		set := square(b, side)
		for i, steps := range slices.Repeat([]int{1, 10, 30, 100}, 3) {
			first := []string{"", Spread, Vertex}[i/4]
			u, _ := grown(b, set, first, steps)
			for form, name := range []string{dense, sparse} {
				b.Run(fmt.Sprintf("form=%s/d=%d/first=%s/steps=%d", name, set.Dimension(), first, steps), func(b *testing.B) {
					e := decision.NewEncoder(decision.Config{
						Stream: "0", Mechanism: "blt", Window: 1024, Batch: 1, Epsilon: 1, Adjacency: "replace", Unit: "event",
						Form: decision.Form(form),
					}, nil)
					var line []byte
					b.ReportAllocs()
					for b.Loop() {
						line = e.Append(line[:0], 1<<20, 1<<20, u.point(), nil)
					}
					b.ReportMetric(float64(len(line)), "B/decision")
				})
			}
		}
	}
}
