package operators_test

import (
	"math"
	"testing"

	"oriel/operators"
)

// TestRange checks that a range has two finite ends, the first below the second. Numbers are clamped to the range, and
// NaN is not in it.
func TestRange(t *testing.T) {
	for text, want := range map[[2]string]operators.Range{
		{"-60", " 180 "}: {Low: -60, High: 180}, {"-0", "1"}: {High: 1}, {"1e12", "1e12"}: {}, {"2", "1"}: {}, {"", "1"}: {},
		{"0", "2e12"}: {}, {"NaN", "1"}: {}, {"-Inf", "1"}: {},
	} {
		r, ok := operators.ParseRange(text[0], text[1])
		if ok != (want != operators.Range{}) || ok && (r != want || math.Signbit(r.Low) != (r.Low < 0)) {
			t.Errorf("%q: %v, %v, want %v", text, r, ok, want)
		}
	}
	r := operators.Range{Low: -60, High: 180}
	for x, want := range map[float64]float64{-60: -0.5, 60: 0, 180: 0.5, -1e9: -0.5, math.Inf(1): 0.5} {
		if got := r.Centred(x); got != want {
			t.Errorf("%g is at %g, want %g", x, got, want)
		}
	}
	if !math.IsNaN(r.Centred(math.NaN())) {
		t.Error("NaN has a place")
	}
	for _, u := range []float64{-1, 1} {
		if far := r.Beyond(u, -1, 1); r.Centred(far) != -u/2 || math.Abs(far-r.Middle()) < operators.CanaryFactor*r.Half() {
			t.Errorf("%g is not far beyond an end", far)
		}
	}
}

// TestProbabilityScores checks that a probability's score is its logarithm, rounded down, and that draws by scores have
// the given probabilities up to a relative error of 2⁻²⁰.
func TestProbabilityScores(t *testing.T) {
	for _, p := range []float64{1, 0.5, 0.3, 1e-9} {
		got := math.Exp(float64(operators.ProbabilityScore(p)) / (1 << operators.ProbabilityBits))
		if got > p || got < p*(1-0x1p-19) {
			t.Errorf("%g is drawn with %g", p, got)
		}
	}
}
