package dp

import (
	"math"
	"math/big"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
)

// total returns the composition of losses in the three currencies.
func total(mus, rhos, pures []float64) Total {
	var t Total
	for _, mu := range mus {
		t.AddMu(mu)
	}
	for _, rho := range rhos {
		t.AddRho(rho)
	}
	for _, epsilon := range pures {
		t.AddPure(epsilon)
	}
	return t
}

func TestTotalOfOneCurrencyIsItsConversion(t *testing.T) {
	if four := total([]float64{1, 1, 1, 1}, nil, nil); four.Mu() != 2 || four.Epsilon(1e-6) != GaussianEpsilon(2, 1e-6) ||
		four.Delta(3) != GaussianDelta(3, 2) {
		t.Errorf("four times mu 1 is mu %g, want 2", four.Mu())
	}
	for _, x := range []float64{1e-30, 1e-3, 0.1, 0.2064, 1 / 3.0, 1, math.Pi, 40} {
		gaussian, zcdp, pure := total([]float64{x}, nil, nil), total(nil, []float64{x}, nil), total(nil, nil, []float64{x})
		if gaussian.Mu() != x || zcdp.Rho() != x || pure.Pure() != x || pure.Epsilon(0) != x {
			t.Errorf("one loss of %g is mu %g, rho %g, pure %g, epsilon %g", x, gaussian.Mu(), zcdp.Rho(), pure.Pure(),
				pure.Epsilon(0))
		}
		for _, delta := range []float64{1e-12, 1e-6, 0.01} {
			if got, want := gaussian.Epsilon(delta), GaussianEpsilon(x, delta); got != want {
				t.Errorf("mu %g, delta %g: epsilon %g, want %g", x, delta, got, want)
			}
			if got, want := zcdp.Epsilon(delta), zcdpEpsilon(x, delta); got != want {
				t.Errorf("rho %g, delta %g: epsilon %g, want %g", x, delta, got, want)
			}
			// For randomised response, δ = (e^ε₀ − e^ε)/(1 + e^ε₀).
			want := x + math.Log1p(-delta*(1+math.Exp(-x)))
			if got := pure.Epsilon(delta); got > x || math.Abs(got-max(0, want)) > 1e-14*(1+x) {
				t.Errorf("pure %g, delta %g: epsilon %g, want %g", x, delta, got, want)
			}
		}
		if gaussian.Delta(0.5) != GaussianDelta(0.5, x) || zcdp.Delta(0.5) != ZCDPDelta(0.5, x) {
			t.Errorf("delta of one loss of %g is not that of its currency", x)
		}
	}
	if five := total(nil, nil, []float64{0.1, 0.1, 0.1, 0.1, 0.1}); five.Epsilon(0) != 0.5000000000000001 {
		t.Errorf("five times pure 0.1 is %g, want 0.5 rounded up", five.Epsilon(0)) // the float64 0.1 is above 1/10
	}
}

// trueDelta returns the hockey-stick divergence, computed from the definition, of a mechanism with randomised responses
// and Gaussian noise.
func trueDelta(epsilon float64, pures []float64, mu float64) float64 {
	if len(pures) == 0 {
		return roughDelta(epsilon, mu)
	}
	p := 1 / (1 + math.Exp(-pures[0]))
	return p*trueDelta(epsilon-pures[0], pures[1:], mu) + (1-p)*trueDelta(epsilon+pures[0], pures[1:], mu)
}

// TestTotalIsNeverBelowTheTruth checks that no total claims less than the worst mechanisms of its currencies lose:
// randomised responses for pure losses, Gaussian noise for the others. Without zCDP and with few outcomes the claim
// must equal their loss. If a tenth of a loss is left out, the claim must be too small.
func TestTotalIsNeverBelowTheTruth(t *testing.T) {
	caught := 0
	for _, c := range []struct {
		mus, gaussiansAsRho, pures []float64
		exact                      bool
	}{
		{[]float64{0.5, 0.3}, nil, []float64{0.4}, true},
		{[]float64{1.5}, nil, []float64{2}, true},
		{nil, nil, []float64{0.3}, true},
		{[]float64{1}, nil, []float64{0.1, 0.2, 0.1, 0.2, 0.2}, true},
		{nil, nil, []float64{0.05, 0.1, 0.05, 0.05, 0.7, 0.05, 0.05, 0.05, 0.05, 0.05}, true},
		{[]float64{1}, nil, []float64{0.1, 0.2, 0.1, 0.15, 0.05, 0.3, 0.25, 0.1}, false},
		{nil, nil, []float64{0.01, 0.02, 0.03, 0.04, 0.05, 0.06, 0.07, 0.08, 0.09, 0.11}, false},
		{[]float64{0.2}, []float64{1}, []float64{0.5}, false},
		{[]float64{1}, []float64{0.01}, []float64{0.1, 0.1}, false},
		{[]float64{1}, []float64{0.01}, []float64{0.1, 0.2, 0.1, 0.15, 0.05, 0.3, 0.25, 0.1}, false},
		{nil, []float64{0.7}, []float64{0.5, 0.5}, false},
	} {
		build := func(keep float64) Total {
			all := total(c.mus, nil, nil)
			for _, mu := range c.gaussiansAsRho {
				all.AddRho(keep * gaussianRho(mu))
			}
			for _, pure := range c.pures {
				all.AddPure(keep * pure)
			}
			return all
		}
		mu := total(slices.Concat(c.mus, c.gaussiansAsRho), nil, nil).Mu()
		for _, epsilon := range []float64{0, 0.05, 0.3, 1, 2.5, 5} {
			truth := trueDelta(epsilon, c.pures, mu)
			got := build(1).Delta(epsilon)
			if got < truth*(1-1e-9) || c.exact && got > truth*(1+1e-9)+1e-300 {
				t.Errorf("%+v: delta at epsilon %g is %g, the truth %g", c, epsilon, got, truth)
			}
			if build(0.9).Delta(epsilon) < truth*(1-1e-9) {
				caught++
			}
			if !(truth > 1e-30) {
				continue
			}
			if back := build(1).Epsilon(truth * (1 - 1e-9)); back < epsilon*(1-1e-9) {
				t.Errorf("%+v: epsilon at delta %g is %g, the truth %g", c, truth, back, epsilon)
			}
		}
	}
	if caught < 10 {
		t.Errorf("a tenth of a loss left out is caught %d times, want at least 10", caught)
	}
}

func TestTotalIsAtMostEachSimpleBound(t *testing.T) {
	for _, mu := range []float64{0, 0.05, 1} {
		for _, rho := range []float64{0, 1e-6, 0.02, 1} {
			for _, pure := range []float64{0, 1e-3, 0.5} {
				all := total([]float64{mu}, []float64{rho}, []float64{pure, pure})
				for _, delta := range []float64{1e-9, 1e-4} {
					share := delta
					if mu > 0 && rho > 0 {
						share = delta / 2
					}
					got := all.Epsilon(delta)
					for name, naive := range map[string]float64{
						"basic":   GaussianEpsilon(mu, share) + zcdpEpsilon(rho, share) + 2*pure,
						"as zCDP": zcdpEpsilon(gaussianRho(mu)+rho+pure*pure, delta),
					} {
						if got > naive*(1+1e-12) {
							t.Errorf("mu %g, rho %g, twice pure %g, delta %g: epsilon %g, %s composition %g", mu, rho, pure, delta, got,
								name, naive)
						}
					}
					if rho == 0 {
						if naive := GaussianEpsilon(total([]float64{mu, PureMu(pure), PureMu(pure)}, nil, nil).Mu(), delta); got > naive {
							t.Errorf("mu %g, twice pure %g, delta %g: epsilon %g, as Gaussian %g", mu, pure, delta, got, naive)
						}
					}
					if back := all.Delta(got); back > delta*(1+1e-6) {
						t.Errorf("mu %g, rho %g, pure %g: delta at epsilon %g is %g, want %g", mu, rho, pure, got, back, delta)
					}
				}
			}
		}
	}
}

func TestTotalIsMonotone(t *testing.T) {
	all := total([]float64{0.5}, []float64{0.01}, []float64{0.1, 0.1})
	last := 1.0
	for epsilon := 0.0; epsilon < 8; epsilon += 0.5 {
		delta := all.Delta(epsilon)
		if delta > last {
			t.Errorf("delta at epsilon %g is %g, %g before", epsilon, delta, last)
		}
		for name, more := range map[string]Total{
			"mu": total([]float64{0.1}, nil, nil), "rho": total(nil, []float64{0.001}, nil),
			"pure": total(nil, nil, []float64{0.01}),
		} {
			if more.Add(all); more.Delta(epsilon) < delta {
				t.Errorf("more %s: delta at epsilon %g falls from %g to %g", name, epsilon, delta, more.Delta(epsilon))
			}
		}
		last = delta
	}
}

// TestDeploymentsAddInQuadrature checks the ε of several deployments of ε = 1, δ = 1e-6 that read one event, as the
// table of PRIVACY.md states it.
func TestDeploymentsAddInQuadrature(t *testing.T) {
	var one Total
	one.AddMu(GaussianMu(Budget{Epsilon: 1, Delta: 1e-6}))
	for deployments, want := range map[uint64]float64{2: 1.46, 5: 2.40, 10: 3.53} {
		if got := one.Times(deployments).Epsilon(1e-6); got > want || got < want-0.01 {
			t.Errorf("%d deployments lose ε = %g, want %g rounded up", deployments, got, want)
		}
	}
}

func TestTimesAndGroup(t *testing.T) {
	one := total([]float64{0.3}, []float64{0.01}, []float64{0.2})
	var seven Total
	for range 7 {
		seven.Add(one)
	}
	near := func(got, want float64) bool { return got >= want && got <= want*(1+1e-15) }
	if times := one.Times(7); !near(seven.Mu(), times.Mu()) || !near(seven.Rho(), times.Rho()) ||
		!near(seven.Pure(), times.Pure()) {
		t.Errorf("Times(7) is %+v, seven additions %+v", times, seven)
	}
	same := func(a, b Total) bool { return reflect.DeepEqual(a, b) }
	if !same(one.Times(1), one) || !same(one.Group(1), one) || !same(one.Times(0), Total{}) ||
		!same(one.Group(0), Total{}) {
		t.Error("0 or 1 times a total is not none or itself")
	}
	group := one.Group(10)
	if !near(group.Mu(), 3) || !near(group.Rho(), 1) || !near(group.Pure(), 2) {
		t.Errorf("a group of 10 has mu %g, rho %g, pure %g, want 3, 1, 2", group.Mu(), group.Rho(), group.Pure())
	}
	// A group of k events moves a Gaussian's mean k times as far. Its effect on a randomised response is a response
	// with k times the loss.
	if got := total([]float64{0.3}, nil, nil).Group(4); got.Epsilon(1e-6) != GaussianEpsilon(got.Mu(), 1e-6) ||
		!near(got.Mu(), 1.2) {
		t.Errorf("a group of 4 has mu %g, want 1.2", got.Mu())
	}
	for _, epsilon := range []float64{0, 0.3, 0.7} {
		if got, truth := total(nil, nil, []float64{0.2}).Group(4).Delta(epsilon),
			trueDelta(epsilon, []float64{0.8}, 0); got < truth*(1-1e-12) {
			t.Errorf("a group of 4 at pure 0.2 has delta %g at epsilon %g, the truth %g", got, epsilon, truth)
		}
	}
	if got := one.Group(math.MaxUint64); !(got.Pure() >= 0.2*0x1p64) || got.Delta(1) != 1 {
		t.Error("a group of all events has a claim")
	}
}

func TestCopiesOfATotalAreIndependent(t *testing.T) {
	one := total(nil, nil, []float64{0.1, 0.3})
	other := one
	other.AddPure(0.2)
	other.AddPure(0.1)
	one.AddPure(0.25)
	if want := total(nil, nil, []float64{0.3, 0.25, 0.1}); !reflect.DeepEqual(one, want) {
		t.Errorf("a total is %+v after losses were added to its copy, want %+v", one, want)
	}
	if want := total(nil, nil, []float64{0.1, 0.1, 0.2, 0.3}); !reflect.DeepEqual(other, want) {
		t.Errorf("the copy of a total is %+v, want %+v", other, want)
	}
}

func TestSumsRoundUp(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var s sum
		truth := new(big.Float).SetPrec(4000)
		for range 20 {
			x := math.Ldexp(random.Float64(), random.IntN(200)-100)
			s = s.plus(square(x))
			wide := new(big.Float).SetPrec(4000).SetFloat64(x)
			truth.Add(truth, wide.Mul(wide, wide))
		}
		got := s.float()
		slack := new(big.Float).SetMantExp(truth, -100)
		if got.Cmp(truth) < 0 || new(big.Float).SetPrec(4000).Sub(got, truth).Cmp(slack) > 0 {
			t.Fatalf("sum %.40g of %.40g", got, truth)
		}
		root := rootUp(got)
		squared := func(x float64) *big.Float { return newFloat().Mul(exact(x), exact(x)) }
		if squared(root).Cmp(got) < 0 || squared(math.Nextafter(root, 0)).Cmp(got) >= 0 {
			t.Fatalf("rootUp(%.40g) = %g", got, root)
		}
	}
	if rootUp(newFloat()) != 0 || rootUp(exact(2)) != math.Nextafter(math.Sqrt2, 2) && rootUp(exact(2)) != math.Sqrt2 ||
		rootUp(exact(9)) != 3 {
		t.Error("rootUp of 0, 2 or 9")
	}
}

func TestTotalAtTheEdges(t *testing.T) {
	inf := math.Inf(1)
	var none Total
	if none.Epsilon(0) != 0 || none.Delta(0) != 0 || none.Epsilon(1) != 0 {
		t.Error("no loss has a loss")
	}
	for _, all := range []Total{
		total([]float64{inf}, nil, nil), total(nil, []float64{inf}, nil), total(nil, nil, []float64{inf}),
		total([]float64{1e200, 1e200}, nil, nil),
		total([]float64{1}, []float64{1e308, 1e308}, nil),
		total([]float64{inf}, []float64{inf}, []float64{inf}).Group(5).Times(9),
	} {
		if !math.IsInf(all.Epsilon(1e-6), 1) || all.Delta(10) != 1 || all.Delta(inf) != 0 || all.Epsilon(1) != 0 {
			t.Errorf("infinite loss %+v: epsilon %g, delta %g", all, all.Epsilon(1e-6), all.Delta(10))
		}
	}
	if large := total(nil, nil, []float64{5000}); large.Epsilon(0) != 5000 || large.Delta(4000) != 1 ||
		large.Delta(5000) != 0 {
		t.Errorf("pure 5000: epsilon %g, delta %g", large.Epsilon(0), large.Delta(5000))
	}
	if mixed := total([]float64{1}, []float64{1}, []float64{1}); !math.IsInf(mixed.Epsilon(0), 1) {
		t.Error("a Gaussian loss has an epsilon at delta 0")
	}
}

func TestTotalPanicsOnNonsense(t *testing.T) {
	nan := math.NaN()
	for i, call := range []func(*Total){
		func(t *Total) { t.AddMu(-1) },
		func(t *Total) { t.AddRho(nan) },
		func(t *Total) { t.AddPure(-1e-300) },
		func(t *Total) { t.Delta(nan) },
		func(t *Total) { t.Epsilon(-1) },
		func(*Total) { ZCDPDelta(-1, 1) },
		func(*Total) { zcdpEpsilon(nan, 0.1) },
		func(*Total) { ZCDPRho(Budget{1, 1}) },
		func(*Total) { gaussianRho(nan) },
		func(*Total) { pureRho(-1) },
		func(*Total) { PureMu(nan) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("call %d does not panic", i)
				}
			}()
			var total Total
			call(&total)
		}()
	}
}

func TestDeltaWarning(t *testing.T) {
	want := "δ = 0.1 is too large: publishing one random event of the 1024 that are protected together would satisfy it. " +
		"Use well below 1/1024"
	if got := DeltaWarning(0.1, 1024); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	for _, c := range []struct {
		delta  float64
		events uint64
		want   bool
	}{
		{1e-6, 1 << 19, false}, {1e-6, 1 << 20, true}, {0x1p-20, 1 << 20, false}, {0, math.MaxUint64, false}, {0.5, 1, false},
	} {
		if got := DeltaWarning(c.delta, c.events); (got != "") != c.want {
			t.Errorf("DeltaWarning(%g, %d) = %q", c.delta, c.events, got)
		}
	}
}
