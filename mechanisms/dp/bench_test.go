package dp

import "testing"

func BenchmarkGaussianMu(b *testing.B) {
	for b.Loop() {
		GaussianMu(Budget{Epsilon: 1, Delta: 1e-6})
	}
}

func BenchmarkGaussianDelta(b *testing.B) {
	for b.Loop() {
		GaussianDelta(1, 0.2064)
	}
}

func BenchmarkZCDPEpsilon(b *testing.B) {
	for b.Loop() {
		zcdpEpsilon(0.5, 1e-6)
	}
}

func BenchmarkZCDPRho(b *testing.B) {
	for b.Loop() {
		ZCDPRho(Budget{Epsilon: 1, Delta: 1e-6})
	}
}

func BenchmarkTotalEpsilon(b *testing.B) {
	for _, c := range []struct {
		name  string
		total Total
	}{
		{"gaussian", total([]float64{0.5, 0.5, 0.5}, nil, nil)},
		{"gaussian+pure", total([]float64{1}, nil, []float64{0.1})},
		{"gaussian+15xpure", total([]float64{1}, nil, []float64{0.1}).Times(15)},
		{"100xpure", total(nil, nil, []float64{0.1}).Times(100)},
		{"1000xpure", total(nil, nil, []float64{0.1}).Times(1000)},
		{"gaussian+zcdp+pure", total([]float64{1}, []float64{0.01}, []float64{0.1})},
	} {
		b.Run("of="+c.name, func(b *testing.B) {
			for b.Loop() {
				c.total.Epsilon(1e-6)
			}
		})
	}
}
