package text

import (
	"math/rand/v2"
	"testing"
)

func BenchmarkAppendFloat(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	x := make([]float64, 1<<17)
	for k := range x {
		x[k] = rng.NormFloat64() / 8
	}
	var dst []byte
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		dst = AppendFloat(dst[:0], x[i%len(x)])
	}
}
