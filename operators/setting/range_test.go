package setting_test

import (
	"math"
	"testing"

	"oriel/operators/setting"
)

// TestRange checks that a range has two finite ends, the first below the second. Numbers are clamped to the range, and
// NaN is not in it.
func TestRange(t *testing.T) {
	for text, want := range map[[2]string]setting.Range{
		{"-60", " 180 "}: {Low: -60, High: 180}, {"-0", "1"}: {High: 1}, {"1e12", "1e12"}: {}, {"2", "1"}: {}, {"", "1"}: {},
		{"0", "2e12"}: {}, {"NaN", "1"}: {}, {"-Inf", "1"}: {},
	} {
		r, ok := setting.ParseRange(text[0], text[1])
		if ok != (want != setting.Range{}) || ok && (r != want || math.Signbit(r.Low) != (r.Low < 0)) {
			t.Errorf("%q: %v, %v, want %v", text, r, ok, want)
		}
	}
	r := setting.Range{Low: -60, High: 180}
	for x, want := range map[float64]float64{-60: -0.5, 60: 0, 180: 0.5, -1e9: -0.5, math.Inf(1): 0.5} {
		if got := r.Centred(x); got != want {
			t.Errorf("%g is at %g, want %g", x, got, want)
		}
	}
	if !math.IsNaN(r.Centred(math.NaN())) {
		t.Error("NaN has a place")
	}
	for _, u := range []float64{-1, 1} {
		if far := r.Beyond(u, -1, 64); r.Centred(far) != -u/2 || math.Abs(far-r.Middle()) < 64*r.Half() {
			t.Errorf("%g is not far beyond an end", far)
		}
	}
}
