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
