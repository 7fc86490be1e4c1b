package coco

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"oriel/mechanisms"
	"oriel/operators"
	"oriel/schemas"
)

// BenchmarkAdd is one event, one step, one decision: logistic loss, dense features, W = 1024, with the tree's noise.
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
	b.Run("update=projection/set=l2-ball/leaves=centre/d=32", func(b *testing.B) {
		config := logistic(b, 32)
		benchmark(b, open(b, config, sharpest(config, mechanism(config, 1024, 1)), 1))
	})
	for name, change := range map[string]func(*mechanisms.Config){
		"blt/W=1024":  func(m *mechanisms.Config) { m.AgeWeight = 0.3 },
		"blt/H=65536": func(m *mechanisms.Config) { m.Window, m.Memory = 0, 65_536 },
	} {
		b.Run("update=projection/set=l2-ball/d=32/"+name, func(b *testing.B) {
			config := logistic(b, 32)
			m := mechanism(config, 1024, 1)
			m.Name = "blt"
			change(&m)
			benchmark(b, open(b, config, m, 1))
		})
	}
	b.Run("noise=none/update=projection/set=l2-ball/d=32", func(b *testing.B) {
		config := sample(b, "l2-ball", 32)
		config.Loss = mustLoss(b, "logistic")
		benchmark(b, quiet(b, config, mechanism(config, 1024, 1)))
	})
}

func benchmark(b *testing.B, m *Machine) {
	rng := rand.New(rand.NewPCG(1, 1))
	events := make([]schemas.Event, 64)
	for i := range events {
		events[i] = schemas.Event{Vector: schemas.Vector{Values: direction(rng, 32, 1)}, Label: float64(1 - i%2*2), Weight: 1}
	}
	var dst []operators.Decision
	i := 0
	b.ReportAllocs()
	for b.Loop() {
		dst = m.Add(dst[:0], record(i, events[i%len(events)]))
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
