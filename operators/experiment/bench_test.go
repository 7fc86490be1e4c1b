package experiment

import (
	"strconv"
	"testing"
)

func BenchmarkBank(b *testing.B) {
	noise := prefixes([]float64{0.9995, 0.97, 0.7, 0.4}, []float64{0.02, 0.1, 0.15, 0.1})
	for _, width := range []int{2, 4} {
		b.Run(strconv.Itoa(width), func(b *testing.B) {
			ratios := make([]float64, 64)
			for i := range ratios {
				ratios[i] = 0.01 * float64(i+1)
			}
			x := newBank(noise, ratios, width, 100, 0, make([]float64, bankLen(64, len(noise.Poles), width)))
			y := make([]float64, width)
			for i := range b.N {
				y[0] = float64(i % 7)
				x.step(y)
				if i%1000 == 0 {
					x.block(0)
				}
			}
		})
	}
}
