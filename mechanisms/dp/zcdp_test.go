package dp

import (
	"fmt"
	"math"
	"math/big"
	"testing"
)

// atLeastZero returns x, or 0 if x is negative.
func atLeastZero(x *big.Float) *big.Float {
	if x.Sign() < 0 {
		return newFloat()
	}
	return x
}

// TestRenyiBoundsAreTheLeastFloatsAboveTheTruth compares bounds with infima over all orders at 120 digits. So the order
// found in floating point must give the last bit of the bound correctly.
func TestRenyiBoundsAreTheLeastFloatsAboveTheTruth(t *testing.T) {
	grid(t, "renyi-delta.csv", 150, func(x []float64, want *big.Float) {
		got := probability(renyi{exact(x[1]), []responses{{x[2], 1}}}.delta(x[0]))
		if got != probability(want) {
			t.Errorf("delta at epsilon %g of rho %g, pure %g = %g, want %g", x[0], x[1], x[2], got, probability(want))
		}
		if x[2] == 0 && ZCDPDelta(x[0], x[1]) != got {
			t.Errorf("ZCDPDelta(%g, %g) is not %g", x[0], x[1], got)
		}
	})
	grid(t, "renyi-epsilon.csv", 120, func(x []float64, want *big.Float) {
		got := RoundUp(renyi{exact(x[1]), []responses{{x[2], 1}}}.epsilon(x[0]))
		if got != RoundUp(atLeastZero(want)) {
			t.Errorf("epsilon at delta %g of rho %g, pure %g = %g, want %g", x[0], x[1], x[2], got, RoundUp(atLeastZero(want)))
		}
		if x[2] == 0 && zcdpEpsilon(x[1], x[0]) != got {
			t.Errorf("zcdpEpsilon(%g, %g) is not %g", x[1], x[0], got)
		}
	})
}

// TestOrderIsTheBestOne checks that orders near the chosen one do not give better bounds. Every order proves a bound.
func TestOrderIsTheBestOne(t *testing.T) {
	for _, r := range []roughRenyi{
		{1e-6, nil},
		{0.02, nil},
		{3, nil},
		{0.02, []responses{{0.5, 1}}},
		{1, []responses{{0.1, 7}, {5, 2}}},
		{0, []responses{{1, 1}}},
	} {
		delta := func(t, epsilon float64) float64 { return r.k(t) - t*epsilon - t*math.Log1p(1/t) - math.Log1p(t) }
		epsilon := func(t, log float64) float64 { return (r.k(t)+log-math.Log1p(t))/t - math.Log1p(1/t) }
		for _, factor := range []float64{0.5, 0.99, 1.01, 2} {
			if order := r.orderOfDelta(0.3); delta(order, 0.3) > delta(factor*order, 0.3) {
				t.Errorf("%+v: order %g is worse than %g times it for delta", r, order, factor)
			}
			if order := r.orderOfEpsilon(14); epsilon(order, 14) > epsilon(factor*order, 14) {
				t.Errorf("%+v: order %g is worse than %g times it for epsilon", r, order, factor)
			}
		}
	}
}

func TestZCDPRhoIsTheLargestThatProvesTheBudget(t *testing.T) {
	for _, b := range []Budget{{0, 1e-6}, {1e-9, 1e-6}, {0.1, 1e-12}, {1, 1e-6}, {10, 0.3}, {1000, 1e-300}} {
		rho := ZCDPRho(b)
		if above := math.Nextafter(rho, 1e9); !(rho > 0) || ZCDPDelta(b.Epsilon, rho) > b.Delta ||
			ZCDPDelta(b.Epsilon, above) <= b.Delta {
			t.Errorf("ZCDPRho(%+v) = %g: not the largest", b, rho)
		}
		if got := zcdpEpsilon(rho, b.Delta); got > b.Epsilon || got < b.Epsilon*(1-1e-9)-1e-9 {
			t.Errorf("zcdpEpsilon(ZCDPRho(%+v)) = %g", b, got)
		}
	}
}

// TestZCDPConversionIsAboveTheGaussianOne converts a Gaussian mechanism, which is µ²/2-zCDP, both ways. The ε by zCDP
// must be above the exact ε, but only slightly.
func TestZCDPConversionIsAboveTheGaussianOne(t *testing.T) {
	for _, mu := range []float64{1e-3, 0.02, 0.2, 1, 4} {
		for _, delta := range []float64{1e-12, 1e-6, 1e-3} {
			exact, got := GaussianEpsilon(mu, delta), zcdpEpsilon(gaussianRho(mu), delta)
			if got < exact || delta < 1e-4 && got > 1.15*exact {
				t.Errorf("mu %g, delta %g: epsilon %g by zCDP, %g exactly", mu, delta, got, exact)
			}
			if standard := mu*mu/2 + mu*math.Sqrt(-2*math.Log(delta)); got > standard {
				t.Errorf("mu %g, delta %g: epsilon %g above ρ + 2√(ρ ln 1/δ) = %g (Bun and Steinke 2016, Proposition 1.3)", mu,
					delta, got, standard)
			}
		}
		for _, epsilon := range []float64{0, 0.1, 1, 10} {
			if exact, got := GaussianDelta(epsilon, mu), ZCDPDelta(epsilon, gaussianRho(mu)); got < exact {
				t.Errorf("mu %g, epsilon %g: delta %g by zCDP, %g exactly", mu, epsilon, got, exact)
			}
		}
	}
}

func TestZCDPIsMonotone(t *testing.T) {
	last := math.Inf(1)
	for epsilon := 0.0; epsilon < 20; epsilon += 0.37 {
		delta := ZCDPDelta(epsilon, 0.4)
		if delta > last || delta > ZCDPDelta(epsilon, math.Nextafter(0.4, 1)) {
			t.Errorf("delta at epsilon %g = %g, %g before", epsilon, delta, last)
		}
		last = delta
	}
}

func TestZCDPAtTheEdges(t *testing.T) {
	f := func(name string, got, want float64) {
		t.Helper()
		if got != want {
			t.Errorf("%s = %g, want %g", name, got, want)
		}
	}
	inf := math.Inf(1)
	f("delta of no loss", ZCDPDelta(0, 0), 0)
	f("delta at infinite epsilon", ZCDPDelta(inf, 3), 0)
	f("delta of infinite rho", ZCDPDelta(3, inf), 1)
	f("delta below the least float", ZCDPDelta(1e6, 1), math.SmallestNonzeroFloat64)
	f("epsilon of no loss", zcdpEpsilon(0, 0), 0)
	f("epsilon at delta 0", zcdpEpsilon(1e-9, 0), inf)
	f("epsilon at delta 1", zcdpEpsilon(7, 1), 0)
	f("epsilon of infinite rho", zcdpEpsilon(inf, 0.5), inf)
	f("rho at delta 0", ZCDPRho(Budget{Epsilon: 1}), 0)
	f("rho of mu 2", gaussianRho(2), 2)
	for _, delta := range []float64{1e-300, 1e-6, 0.9} {
		for _, rho := range []float64{1e-300, 1e-100, 1e100, 1e300} {
			if got := zcdpEpsilon(rho, delta); math.IsNaN(got) || got < 0 || rho > 1 && got < rho*(1-1e-12) {
				t.Errorf("zcdpEpsilon(%g, %g) = %g", rho, delta, got)
			}
		}
	}
}

// gaussianRho returns ρ = µ²/2 of a µ-Gaussian-DP mechanism, rounded up: D_α(N(µ,1)‖N(0,1)) = αµ²/2 (Bun and Steinke
// 2016, Proposition 1.6), and every µ-Gaussian-DP pair is post-processing of these two laws.
func gaussianRho(mu float64) float64 {
	if !(mu >= 0) {
		panic(fmt.Sprintf("BUG: dp: gaussianRho of mu %g: negative or NaN", mu))
	}
	square := newFloat().Mul(exact(mu), exact(mu))
	return RoundUp(square.Quo(square, exact(2)))
}

// zcdpEpsilon returns the ε that ρ-zCDP proves at δ by the bound of ZCDPDelta, rounded up; +Inf if no ε is proved.
func zcdpEpsilon(rho, delta float64) float64 {
	if !(rho >= 0) || !(delta >= 0) {
		panic(fmt.Sprintf("BUG: dp: zcdpEpsilon of rho %g at delta %g: negative or NaN", rho, delta))
	}
	switch {
	case rho == 0 || delta >= 1:
		return 0
	case delta == 0 || math.IsInf(rho, 1):
		return math.Inf(1)
	}
	return RoundUp(renyi{rho: exact(rho)}.epsilon(delta))
}
