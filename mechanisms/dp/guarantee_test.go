package dp

import (
	"math"
	"testing"
)

func TestAdjacencyNamesRoundTrip(t *testing.T) {
	for _, a := range []Adjacency{Replace, ZeroOut} {
		got, err := ParseAdjacency(a.String())
		if got != a || err != nil || a.Validate() != nil {
			t.Errorf("ParseAdjacency(%q) = %v, %v", a.String(), got, err)
		}
	}
	for _, name := range []string{"", "Replace", "zero_out", "adjacency(0)"} {
		if _, err := ParseAdjacency(name); err == nil {
			t.Errorf("ParseAdjacency(%q) succeeds", name)
		}
	}
	if Adjacency(0).Validate() == nil {
		t.Error("the zero adjacency is valid")
	}
}

func TestBudgetValidate(t *testing.T) {
	f := func(epsilon, delta float64, want bool) {
		t.Helper()
		if got := (Budget{Epsilon: epsilon, Delta: delta}).Validate() == nil; got != want {
			t.Errorf("budget (%g, %g) valid: %v, want %v", epsilon, delta, got, want)
		}
	}
	f(1, 1e-6, true)
	f(1, 0, true)
	f(0, 0.1, false)
	f(-1, 0.1, false)
	f(math.NaN(), 0.1, false)
	f(math.Inf(1), 0.1, false)
	f(1, 1, false)
	f(1, -1e-9, false)
	f(1, math.NaN(), false)
}

func TestGuaranteeAtFollowsTheWindows(t *testing.T) {
	gaussian := Guarantee{Window: 1024, Epsilon: 1, Delta: 1e-6, Mu: GaussianMu(Budget{Epsilon: 1, Delta: 1e-6})}
	pure := Guarantee{Window: 8, Epsilon: 0.1}
	if got := gaussian.At(0); got != (Budget{}) {
		t.Errorf("At(0) = %v", got)
	}
	for _, age := range []uint64{1, 1023, 1024} {
		if got := gaussian.At(age); got != (Budget{Epsilon: 1, Delta: 1e-6}) {
			t.Errorf("At(%d) = %v", age, got)
		}
	}
	f := func(age uint64, windows float64) {
		t.Helper()
		got := gaussian.At(age)
		mu := gaussian.Mu * math.Sqrt(windows)
		if low, high := GaussianEpsilon(mu*(1-4e-16), 1e-6), GaussianEpsilon(mu*(1+4e-16), 1e-6); got.Epsilon < low || got.Epsilon > high || got.Delta != 1e-6 {
			t.Errorf("At(%d) = %v, want between %g and %g", age, got, low, high)
		}
	}
	f(1025, 2)
	f(10*1024, 10)
	f(102400, 100)
	f(math.MaxUint64, 1<<54)
	if got := pure.At(9).Epsilon; got != 0.2 {
		t.Errorf("pure At(9) = %g, want 0.2", got)
	}
	if got := pure.At(24).Epsilon; !(got >= 0.3) || got > 0.30000000000000005 {
		t.Errorf("pure At(24) = %g, want 0.3 rounded up", got)
	}
}

// TestAtWindowsDoesNotWrap: an age beyond 64 bits must not come round to a young one.
func TestAtWindowsDoesNotWrap(t *testing.T) {
	g := Guarantee{Window: 1 << 61, Epsilon: 1, Adjacency: Replace}
	if got := g.AtWindows(100).Epsilon; got < 100 {
		t.Errorf("ε at 100 windows of 2^61 steps is %g, want 100", got)
	}
	g.Window = 1024
	if got, want := g.AtWindows(10), g.At(10240); got != want {
		t.Errorf("AtWindows(10) = %v, want %v", got, want)
	}
}

// linear is a curve that no whole windows follow.
type linear float64

func (l linear) Mu(age uint64) float64 { return float64(l) * float64(age) }

// A curve decides at every age but the window, where the claim is what was configured; AtWindows is At, also beyond 2⁶⁴ steps.
func TestGuaranteeFollowsItsCurve(t *testing.T) {
	g := Guarantee{Window: 1000, Epsilon: 1.25, Delta: 1e-6, Mu: 0.25, Curve: linear(0.25 / 1000)}
	for _, age := range []uint64{1, 999, 1001, 8000} {
		if got, want := g.At(age), (Budget{Epsilon: GaussianEpsilon(g.Curve.Mu(age), 1e-6), Delta: 1e-6}); got != want {
			t.Errorf("At(%d) = %+v, want %+v", age, got, want)
		}
	}
	if got := g.At(1000); got != (Budget{Epsilon: 1.25, Delta: 1e-6}) || g.AtWindows(1) != got {
		t.Errorf("At(W) = %+v, want the claim", got)
	}
	if g.At(0) != (Budget{}) || g.AtWindows(8) != g.At(8000) || g.AtWindows(math.MaxUint64) != g.At(math.MaxUint64) {
		t.Error("AtWindows is not At of as many steps")
	}
	if other := g; other != g {
		t.Error("equal guarantees differ")
	}
}
