package blt

import (
	"math"
	"testing"
)

// TestCertificates certifies how close m = 4 comes to the optimum; PROOF.md states
// these bounds.
func TestCertificates(t *testing.T) {
	f := func(within float64, windows ...uint64) {
		t.Helper()
		for _, window := range windows {
			r, err := NewResponse(fitFilter(t, window, 0, 4))
			if err != nil {
				t.Fatal(err)
			}
			ratio := r.Variance(window) / Optimum(window)
			t.Logf("W=%d: %.5f", window, ratio)
			if ratio > within || ratio < 1 {
				t.Errorf("W=%d: %g of the optimum, want at most %g", window, ratio, within)
			}
		}
	}
	f(1+1e-5, 1)
	f(1.0275, 2, 3, 4, 5, 8, 13, 26)
	f(1.02, 27, 40, 99, 100, 128, 181, 512, 513, 700, 3000, 125_000)
	f(1.0201, 1<<17)
	f(1.0522, MaxWindow)
}

// TestVarianceAndGrowthAreTheSeries computes Σb², Σd² and µ by the recurrence of b = Π(1 − p_i·x)/Π(1 − q_k·x) with
// rational poles, and compares the variance and the growth of µ.
func TestVarianceAndGrowthAreTheSeries(t *testing.T) {
	for _, f := range []Filter{handmade(t), mixed(t)} {
		r, err := NewResponse(f)
		if err != nil {
			t.Fatal(err)
		}
		const window = 24
		b := impulse(f, 250*window)
		noise, energy, d, x := 0.0, map[int]float64{}, make([]float64, len(b)), 0.0
		for j := range b { // power series division: d = (1/(1−x))/b
			d[j] = 1
			for i := 1; i <= j; i++ {
				d[j] -= b[i] * d[j-i]
			}
			noise += b[j] * b[j]
			x += d[j] * d[j]
			energy[j+1] = x
		}
		near := func(what string, got, want float64) {
			t.Helper()
			if math.Abs(got-want) > 1e-9*want {
				t.Errorf("%s: %.12g, want %.12g", what, got, want)
			}
		}
		near("variance", r.Variance(window), noise*energy[window])
		for _, k := range []int{2, 10, 100} {
			near("growth", r.Growth(window, uint64(k)), math.Sqrt(energy[k*window]/energy[window]))
		}
	}
}
