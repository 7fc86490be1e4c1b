package dp

import (
	"math"
	"math/big"
	"testing"
)

func TestPureLossInOtherCurrencies(t *testing.T) {
	grid(t, "pure-rho.csv", 11, func(x []float64, want *big.Float) {
		if got := pureRho(x[0]); got != RoundUp(want) {
			t.Errorf("pureRho(%g) = %g, want %g", x[0], got, RoundUp(want))
		}
	})
	grid(t, "pure-mu.csv", 8, func(x []float64, want *big.Float) {
		if got := PureMu(x[0]); got != RoundUp(want) {
			t.Errorf("PureMu(%g) = %g, want %g", x[0], got, RoundUp(want))
		}
	})
	inf := math.Inf(1)
	for _, edge := range []struct{ epsilon, rho, mu float64 }{{0, 0, 0}, {800.5, 800.5, inf}, {inf, inf, inf}} {
		if rho, mu := pureRho(edge.epsilon), PureMu(edge.epsilon); rho != edge.rho || mu != edge.mu {
			t.Errorf("pure %g: rho %g, mu %g, want %g, %g", edge.epsilon, rho, mu, edge.rho, edge.mu)
		}
	}
}

// TestPureRhoIsALeastUpperBound checks Lemma 2 of PROOF.md: the Rényi divergence of randomised response is at most αρ,
// and close to it as α → 1.
func TestPureRhoIsALeastUpperBound(t *testing.T) {
	for _, epsilon := range []float64{0.01, 0.5, 1, 4, 30} {
		rho := pureRho(epsilon)
		of := roughRenyi{0, []responses{{epsilon, 1}}}
		for x := 1e-4; x < 1e4; x *= 1.7 {
			if d := of.k(x) / x; d > (1+x)*rho*(1+1e-9) {
				t.Errorf("epsilon %g: divergence %g at order %g, above %g", epsilon, d, 1+x, (1+x)*rho)
			}
		}
		if d := of.k(1e-4) / 1e-4; d < rho*(1-1e-2) {
			t.Errorf("epsilon %g: divergence %g at order 1.0001, rho %g is not attained", epsilon, d, rho)
		}
	}
}

func TestMixedDeltaIsTheLeastFloatAboveTheTruth(t *testing.T) {
	grid(t, "mixed.csv", 120, func(x []float64, want *big.Float) {
		// Beyond the last outcome of randomised response the terms cancel, so that only the margin remains.
		got := mixedDelta(exact(x[0]), plus(certain(), exact(x[1]), 1), x[2])
		slack := newFloat().SetMantExp(exact(4), margin)
		if got.Cmp(want) < 0 || newFloat().Sub(got, want).Cmp(slack) > 0 {
			t.Errorf("mixedDelta(%g, %g, %g) = %.20g, want %.20g", x[0], x[1], x[2], got, want)
		}
	})
}

func TestMixedEpsilonInvertsMixedDelta(t *testing.T) {
	for _, pure := range []responses{{1e-6, 1}, {0.3, 1}, {0.3, 5}, {2, 3}, {900, 1}} {
		law := plus(certain(), exact(pure.loss), int(pure.count))
		for _, mu := range []float64{0, 1e-4, 0.3, 2, 50} {
			for _, delta := range []float64{1e-100, 1e-9, 0.1} {
				epsilon := mixedEpsilon(law, mu, delta)
				of := func(epsilon float64) float64 { return probability(mixedDelta(exact(epsilon), law, mu)) }
				if of(epsilon) > delta || epsilon > 0 && of(math.Nextafter(epsilon, 0)) <= delta {
					t.Errorf("pure %+v, mu %g, delta %g: epsilon %g is not the least", pure, mu, delta, epsilon)
				}
			}
		}
	}
}

// TestLawOfResponses checks that the law of several responses is the binomial one, with probabilities that add up to 1.
func TestLawOfResponses(t *testing.T) {
	law := plus(plus(certain(), exact(0.25), 3), exact(1), 1)
	total, mean := newFloat(), newFloat()
	for _, o := range law {
		total.Add(total, o.weight)
		mean.Add(mean, newFloat().Mul(o.weight, o.loss))
	}
	if off := total.Sub(total, exact(1)); off.Sign() != 0 && off.MantExp(nil) > -180 {
		t.Errorf("probabilities add up to 1 + %g", off)
	}
	want := 3*0.25*math.Tanh(0.125) + math.Tanh(0.5)
	if got, _ := mean.Float64(); len(law) != 8 || math.Abs(got-want) > 1e-15 {
		t.Errorf("%d outcomes of mean loss %g, want 8 of %g", len(law), got, want)
	}
	if sure := plus(certain(), exact(801), 2); len(sure) != 1 || sure[0].roughLoss != 1602 || sure[0].roughWeight != 1 {
		t.Errorf("two losses of 801 are %+v, want 1602 for certain", sure)
	}
}

// pureRho returns the least ρ such that every ε-DP mechanism is ρ-zCDP, rounded up: ρ = ε·tanh(ε/2) (PROOF.md, Lemma
// 2). This is below the ε²/2 of Bun and Steinke 2016, Proposition 1.4.
func pureRho(epsilon float64) float64 {
	mustBeLoss("pureRho", epsilon)
	e := exact(epsilon)
	switch {
	case epsilon < 0x1p-30: // 1 − e^−ε would cancel; the two bounds differ by a relative ε²/12
		return RoundUp(e.Mul(e, e).Quo(e, exact(2)))
	case epsilon > maxExponent:
		return epsilon
	}
	decay := exponential(newFloat().Neg(e))
	e.Mul(e, newFloat().Sub(exact(1), decay))
	return min(epsilon, RoundUp(outward(e.Quo(e, decay.Add(decay, exact(1))))))
}
