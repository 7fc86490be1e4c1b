package protection

import (
	"math"
	"math/big"
	"testing"

	"oriel/mechanisms/dp"
	_ "oriel/mechanisms/mechtest/tiertest" // sets up the test process
)

// event and user are units for tests in which the unit does not matter.
var (
	event = Event{Exchange: dp.Replace}
	user  = User{Exchange: dp.Replace, Separation: 3}
)

// TestPureGuaranteeFollowsTheWindows checks that m windows of pure ε cost mε. All events of a user over m windows cost
// m(m+1)/2 times ε: the events of the first window are followed for m windows, the events of the second for m − 1, and
// so on.
func TestPureGuaranteeFollowsTheWindows(t *testing.T) {
	g := Guarantee{Terms: Terms{Window{8}, user}, Epsilon: 0.1}
	if g.At(0) != (dp.Budget{}) || g.AtAll(0) != (dp.Budget{}) {
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
		f := func(name string, got dp.Budget, want float64) {
			t.Helper()
			if got.Delta != 0 || got.Epsilon < want || got.Epsilon > want*(1+4e-16) {
				t.Errorf("%s(%d) = %v, want %g", name, age, got, want)
			}
		}
		exactly := func(count float64) float64 { // exact multiple of the float64 0.1, which exceeds 1/10
			x, _ := new(big.Rat).Mul(new(big.Rat).SetFloat64(0.1), new(big.Rat).SetFloat64(count)).Float64()
			return x
		}
		f("At", g.At(age), exactly(windows))
		f("AtAll", g.AtAll(age), exactly(all))
	}
	if got := g.AtAll(math.MaxUint64).Epsilon; got < 0.1*0x1p121 || got > 0.1*0x1p121*1.01 {
		t.Errorf("AtAll(2^64 − 1) = %g", got)
	}
	g.Unit = event
	defer func() {
		if recover() == nil {
			t.Error("all events of a user at event level: no panic")
		}
	}()
	g.AtAll(9)
}

// TestGuaranteeWithoutWindowDoesNotAge checks that a per-step release costs the same at every age.
func TestGuaranteeWithoutWindowDoesNotAge(t *testing.T) {
	for _, g := range []Guarantee{
		{Epsilon: 1, Delta: 1e-6, Mu: dp.GaussianMu(dp.Budget{Epsilon: 1, Delta: 1e-6})}, {Epsilon: 0.5},
	} {
		g.Terms = Terms{PerStep{}, event}
		want := dp.Budget{Epsilon: g.Epsilon, Delta: g.Delta}
		for _, age := range []uint64{1, 2, 1000, math.MaxUint64} {
			if g.At(age) != want || g.AtSpans(age) != want {
				t.Errorf("at %d: %v, by windows %v, want %v", age, g.At(age), g.AtSpans(age), want)
			}
		}
		if g.At(0) != (dp.Budget{}) {
			t.Errorf("At(0) = %v", g.At(0))
		}
	}
}

// TestLossDoesNotGrowBeyondTheHorizon checks that with a horizon the loss at later ages is the loss at the last step,
// and never above the claim.
func TestLossDoesNotGrowBeyondTheHorizon(t *testing.T) {
	curve := Guarantee{
		Terms: Terms{Lifetime{800, 1000}, user}, Epsilon: 1.25, Delta: 1e-6, Mu: 0.25, Curve: linear(0.25 / 1000),
	}
	pure := Guarantee{Terms: Terms{Lifetime{1000, 1000}, user}, Epsilon: 0.5}
	for _, g := range []Guarantee{curve, pure} {
		end := g.Scope.End()
		last := g.At(end)
		if last.Epsilon > g.Epsilon || last.Epsilon == 0 {
			t.Errorf("ε(T) = %g, claimed %g", last.Epsilon, g.Epsilon)
		}
		for _, age := range []uint64{end, end + 1, 1000, 1001, 1 << 40, math.MaxUint64} {
			if g.At(age) != last || g.AtAll(age) != last || g.AtSpans(age) != last {
				t.Errorf("at %d: %v, all events %v, by windows %v, want %v", age, g.At(age), g.AtAll(age), g.AtSpans(age), last)
			}
		}
	}
	if curve.At(799) == curve.At(800) {
		t.Error("the curve is not followed up to the horizon")
	}
}

// TestGroupIsLinear checks that k events at once cost kµ or kε.
func TestGroupIsLinear(t *testing.T) {
	budget := dp.Budget{Epsilon: 1, Delta: 1e-6}
	gaussian := Guarantee{Terms: Terms{Window{8}, event}, Epsilon: 1, Delta: 1e-6, Mu: dp.GaussianMu(budget)}
	pure := Guarantee{Terms: Terms{Window{8}, event}, Epsilon: 0.125}
	if gaussian.Group(0) != (dp.Budget{}) || gaussian.Group(1) != budget || pure.Group(1) != (dp.Budget{Epsilon: 0.125}) {
		t.Error("groups of none and of one")
	}
	for _, k := range []uint64{2, 3, 5, 10, 1000} {
		x, y := gaussian.Group(k), pure.Group(k)
		if mu := gaussian.Mu * float64(k); x.Delta != 1e-6 || x.Epsilon < dp.GaussianEpsilon(mu*(1-3e-16), 1e-6) ||
			x.Epsilon > dp.GaussianEpsilon(mu*(1+5e-16), 1e-6) {
			t.Errorf("group of %d: %v", k, x)
		}
		if y != (dp.Budget{Epsilon: 0.125 * float64(k)}) {
			t.Errorf("pure group of %d: %v", k, y)
		}
	}
	gaussian.Mu = math.Inf(1)
	if got := gaussian.Group(2).Epsilon; !math.IsInf(got, 1) {
		t.Errorf("group under no privacy: %g", got)
	}
}

// TestAtSpansDoesNotWrap checks that an age beyond 64 bits does not wrap to a small one.
func TestAtSpansDoesNotWrap(t *testing.T) {
	g := Guarantee{Terms: Terms{Window{1 << 61}, event}, Epsilon: 1}
	if got := g.AtSpans(100).Epsilon; got < 100 {
		t.Errorf("ε at 100 windows of 2^61 steps is %g, want 100", got)
	}
	g.Scope = Window{1024}
	if got, want := g.AtSpans(10), g.At(10240); got != want {
		t.Errorf("AtSpans(10) = %v, want %v", got, want)
	}
}

// linear is a curve that grows linearly with age, not in steps of a window.
type linear float64

func (l linear) Mu(age uint64) float64 { return float64(l) * float64(age) }

// MuAll is larger than Mu beyond a window of 1000.
func (l linear) MuAll(age uint64) float64 { return l.Mu(age) * max(1, float64(age)/1000) }

// TestGuaranteeFollowsItsCurve checks that the loss comes from the curve at every age except W, where it is the
// configured claim. AtSpans must equal At, even beyond 2⁶⁴ steps.
func TestGuaranteeFollowsItsCurve(t *testing.T) {
	g := Guarantee{Terms: Terms{Window{1000}, event}, Epsilon: 1.25, Delta: 1e-6, Mu: 0.25, Curve: linear(0.25 / 1000)}
	for _, age := range []uint64{1, 999, 1001, 8000} {
		if got, want := g.At(age), (dp.Budget{Epsilon: dp.GaussianEpsilon(g.Curve.Mu(age), 1e-6), Delta: 1e-6}); got != want {
			t.Errorf("At(%d) = %+v, want %+v", age, got, want)
		}
	}
	if got := g.At(1000); got != (dp.Budget{Epsilon: 1.25, Delta: 1e-6}) || g.AtSpans(1) != got {
		t.Errorf("At(W) = %+v, want the claim", got)
	}
	g.Unit = user
	for _, age := range []uint64{0, 1, 999, 1000} {
		if g.AtAll(age) != g.At(age) {
			t.Errorf("AtAll(%d) = %+v, want that of the window, %+v", age, g.AtAll(age), g.At(age))
		}
	}
	if got, want := g.AtAll(3000), (dp.Budget{Epsilon: dp.GaussianEpsilon(2.25, 1e-6), Delta: 1e-6}); got != want {
		t.Errorf("AtAll(3000) = %+v, want %+v", got, want)
	}
	if g.At(0) != (dp.Budget{}) || g.AtSpans(8) != g.At(8000) || g.AtSpans(math.MaxUint64) != g.At(math.MaxUint64) {
		t.Error("AtSpans is not At of as many steps")
	}
	if other := g; other != g {
		t.Error("equal guarantees differ")
	}
}
