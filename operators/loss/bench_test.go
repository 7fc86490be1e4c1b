package loss

import (
	"testing"

	"oriel/schemas/event"
)

func BenchmarkGradient(b *testing.B) {
	x, g, a := make([]float64, 32), make([]float64, 32), make([]float64, 32)
	for i := range x {
		x[i], a[i] = 0.1, 0.2
	}
	for _, name := range Names() {
		b.Run("loss="+name+"/d=32", func(b *testing.B) {
			l := mustParse(b, name)
			e := event.Event{Vector: event.Vector{Values: a}, Label: 1, Weight: 1}
			b.ReportAllocs()
			for b.Loop() {
				l.Gradient(g, x, e)
			}
		})
	}
}
