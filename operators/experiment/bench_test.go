package experiment

import "testing"

// BenchmarkLook measures a look. A look of two arms takes about 3 µs for the grid of ratios, and up to half as much
// again for a while after a chosen start. Results that include a lift take longer, because the ends of a lift are
// searched.
func BenchmarkLook(b *testing.B) {
	for name, lift := range map[string]bool{"effect": false, "lift": true, "effect of a chosen start": false} {
		s := halves(0.1, 100)
		s.Lift = lift
		if name == "effect of a chosen start" {
			s.Start, s.Announced = 120, 100
		}
		x, src, released := New(s), newSource(&s, 1, constant(0.1)), make([][]Arm, 1000)
		for l := range released {
			released[l] = make([]Arm, 2)
			src.step(released[l])
		}
		fresh := append([]float64(nil), x.State()...)
		b.Run(name+"/take", func(b *testing.B) {
			b.ReportAllocs()
			for i := range b.N {
				if i%len(released) == 0 {
					copy(x.State(), fresh)
				}
				x.Take(released[i%len(released)])
			}
		})
		b.Run(name+"/read", func(b *testing.B) {
			copy(x.State(), fresh)
			for _, arms := range released[:300] {
				x.Take(arms)
			}
			b.ReportAllocs()
			b.ResetTimer()
			for range b.N {
				x.Effect(1)
				x.Evidence(1)
				x.Mean(0)
				x.Mean(1)
				x.Balance()
				if lift {
					x.Ratio(1)
				}
			}
		})
	}
}
