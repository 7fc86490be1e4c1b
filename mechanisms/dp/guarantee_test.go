package dp

import (
	"math"
	"math/big"
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

// m windows of pure ε cost mε; all events of a user over m windows m(m+1)/2 times ε: the first window's are followed
// for m windows, the next one's for m − 1, and so on.
func TestPureGuaranteeFollowsTheWindows(t *testing.T) {
	g := Guarantee{Window: 8, Epsilon: 0.1, Unit: "user", Separation: 3}
	if g.At(0) != (Budget{}) || g.AtAll(0) != (Budget{}) {
		t.Errorf("at age 0: %v, %v", g.At(0), g.AtAll(0))
	}
	for age := uint64(1); age <= 100; age++ {
		windows, all := 0.0, 0.0
		for start := uint64(0); start < age; start += 8 {
			windows++
			for rest := start; rest < age; rest += 8 {
				all++
			}
		}
		f := func(name string, got Budget, want float64) {
			t.Helper()
			if got.Delta != 0 || got.Epsilon < want || got.Epsilon > want*(1+4e-16) {
				t.Errorf("%s(%d) = %v, want %g", name, age, got, want)
			}
		}
		exactly := func(count float64) float64 { // 0.1 is a little more than a tenth, and is multiplied as it is
			x, _ := new(big.Rat).Mul(new(big.Rat).SetFloat64(0.1), new(big.Rat).SetFloat64(count)).Float64()
			return x
		}
		f("At", g.At(age), exactly(windows))
		f("AtAll", g.AtAll(age), exactly(all))
	}
	if got := g.AtAll(math.MaxUint64).Epsilon; got < 0.1*0x1p121 || got > 0.1*0x1p121*1.01 {
		t.Errorf("AtAll(2^64 − 1) = %g", got)
	}
	g.Separation = 0
	defer func() {
		if recover() == nil {
			t.Error("all events of a user at event level: no panic")
		}
	}()
	g.AtAll(9)
}

// What is released once costs the same at every age.
func TestGuaranteeWithoutWindowDoesNotAge(t *testing.T) {
	for _, g := range []Guarantee{
		{Epsilon: 1, Delta: 1e-6, Mu: GaussianMu(Budget{Epsilon: 1, Delta: 1e-6})}, {Epsilon: 0.5},
	} {
		want := Budget{Epsilon: g.Epsilon, Delta: g.Delta}
		for _, age := range []uint64{1, 2, 1000, math.MaxUint64} {
			if g.At(age) != want || g.AtWindows(age) != want {
				t.Errorf("at %d: %v, by windows %v, want %v", age, g.At(age), g.AtWindows(age), want)
			}
		}
		if g.At(0) != (Budget{}) {
			t.Errorf("At(0) = %v", g.At(0))
		}
	}
}

// With a horizon the loss stays what it is at the last step, whatever is asked, and is never above the claim.
func TestNothingAgesBeyondTheHorizon(t *testing.T) {
	curve := Guarantee{
		Window: 1000, Epsilon: 1.25, Delta: 1e-6, Mu: 0.25, Curve: linear(0.25 / 1000), Horizon: 800, Separation: 5,
	}
	pure := Guarantee{Window: 1000, Epsilon: 0.5, Horizon: 1000, Separation: 5}
	for _, g := range []Guarantee{curve, pure} {
		last := g.At(g.Horizon)
		if last.Epsilon > g.Epsilon || last.Epsilon == 0 {
			t.Errorf("ε(T) = %g, claimed %g", last.Epsilon, g.Epsilon)
		}
		for _, age := range []uint64{g.Horizon, g.Horizon + 1, 1000, 1001, 1 << 40, math.MaxUint64} {
			if g.At(age) != last || g.AtAll(age) != last || g.AtWindows(age) != last {
				t.Errorf("at %d: %v, all events %v, by windows %v, want %v", age, g.At(age), g.AtAll(age), g.AtWindows(age), last)
			}
		}
	}
	if curve.At(799) == curve.At(800) {
		t.Error("the curve is not followed up to the horizon")
	}
}

// k events at once cost kµ or kε.
func TestGroupIsLinear(t *testing.T) {
	budget := Budget{Epsilon: 1, Delta: 1e-6}
	gaussian := Guarantee{Window: 8, Epsilon: 1, Delta: 1e-6, Mu: GaussianMu(budget)}
	pure := Guarantee{Window: 8, Epsilon: 0.125}
	if gaussian.Group(0) != (Budget{}) || gaussian.Group(1) != budget || pure.Group(1) != (Budget{Epsilon: 0.125}) {
		t.Error("groups of none and of one")
	}
	for _, k := range []uint64{2, 3, 5, 10, 1000} {
		x, y := gaussian.Group(k), pure.Group(k)
		if mu := gaussian.Mu * float64(k); x.Delta != 1e-6 || x.Epsilon < GaussianEpsilon(mu*(1-3e-16), 1e-6) ||
			x.Epsilon > GaussianEpsilon(mu*(1+5e-16), 1e-6) {
			t.Errorf("group of %d: %v", k, x)
		}
		if y != (Budget{Epsilon: 0.125 * float64(k)}) {
			t.Errorf("pure group of %d: %v", k, y)
		}
	}
	gaussian.Mu = math.Inf(1)
	if got := gaussian.Group(2).Epsilon; !math.IsInf(got, 1) {
		t.Errorf("group under no privacy: %g", got)
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

// MuAll is more than Mu beyond a window of 1000.
func (l linear) MuAll(age uint64) float64 { return l.Mu(age) * max(1, float64(age)/1000) }

// A curve decides at every age but the window, where the claim is what was configured; AtWindows is At, also beyond 2⁶⁴
// steps.
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
	g.Separation = 7
	for _, age := range []uint64{0, 1, 999, 1000} {
		if g.AtAll(age) != g.At(age) {
			t.Errorf("AtAll(%d) = %+v, want that of the window, %+v", age, g.AtAll(age), g.At(age))
		}
	}
	if got, want := g.AtAll(3000), (Budget{Epsilon: GaussianEpsilon(2.25, 1e-6), Delta: 1e-6}); got != want {
		t.Errorf("AtAll(3000) = %+v, want %+v", got, want)
	}
	if g.At(0) != (Budget{}) || g.AtWindows(8) != g.At(8000) || g.AtWindows(math.MaxUint64) != g.At(math.MaxUint64) {
		t.Error("AtWindows is not At of as many steps")
	}
	if other := g; other != g {
		t.Error("equal guarantees differ")
	}
}

// Of lives with noise of their own µ adds in quadrature, and ε in sum: 1.46 for two of ε = 1, δ = 1e-6, as PRIVACY.md
// has it.
func TestLivesAddInQuadrature(t *testing.T) {
	mu := GaussianMu(Budget{Epsilon: 1, Delta: 1e-6})
	g := Guarantee{Mechanism: "blt", Memory: 64, Batch: 1, Epsilon: 1, Delta: 1e-6, Mu: mu}
	for lives, want := range map[uint64]float64{1: mu, 2: math.Sqrt2 * mu, 9: 3 * mu} {
		got, epsilon := g.Lives(lives), GaussianEpsilon(want, 1e-6)
		if got.Delta != 1e-6 || got.Epsilon < epsilon*(1-1e-12) || got.Epsilon > epsilon*(1+1e-9) {
			t.Errorf("%d lives: %+v, want ε %g", lives, got, epsilon)
		}
	}
	if got := g.Lives(2).Epsilon; got < 1.45 || got > 1.46 {
		t.Errorf("two lives: ε %g", got)
	}
	if g.Lives(0) != (Budget{}) {
		t.Error("no life loses something")
	}
	pure := Guarantee{Mechanism: "tree-gamma", Window: 8, Batch: 1, Epsilon: 0.5}
	if got := pure.Lives(3).Epsilon; got != 1.5 {
		t.Errorf("pure: three lives lose %g", got)
	}
}
