package dp

import "math"

// A conversion is one way to convert a total. It bounds δ(ε), and ε at 0 < δ < 1, both rounded up.
type conversion interface {
	delta(epsilon float64) float64
	epsilon(delta float64) float64
}

// Limits on the number of outcomes up to which laws of pure losses are enumerated. An outcome takes a tenth of a
// millisecond with a Gaussian part, and a hundredth without.
const (
	maxOutcomes         = 128
	maxGaussianOutcomes = 16
)

// conversions returns conversions of t. PROOF.md names the cases in which one of them is exact. An infinite loss has no
// conversions.
func (t Total) conversions() []conversion {
	rho, mu, pure := t.rho.float(), t.Mu(), t.Pure()
	if rho.IsInf() || mu >= maxMu || math.IsInf(pure, 1) {
		return nil
	}
	var all []conversion
	law, whole := t.law(mu > 0)
	if rho.Sign() > 0 || !whole {
		half := square(mu)
		all = append(all, asRenyi{renyi{half.Quo(half, exact(2)).Add(half, rho), t.pures}})
	}
	add := func(law []outcome, mu float64) {
		if rho.Sign() == 0 {
			all = append(all, asMixed{law, mu})
		} else if mu > 0 {
			all = append(all, asSplit{renyi{rho: rho}, law, mu})
		}
	}
	add(law, mu)
	if !whole {
		if mu := t.asMu(); mu < maxMu {
			add(certain(), mu)
		}
	}
	return all
}

// law returns the law of the pure losses. If the law has too many outcomes, whole is false and law is of a single loss,
// the sum of all.
func (t Total) law(gaussian bool) (law []outcome, whole bool) {
	limit := float64(maxOutcomes)
	if gaussian {
		limit = maxGaussianOutcomes
	}
	outcomes := 1.0
	for _, r := range t.pures {
		outcomes *= r.count + 1
	}
	if outcomes > limit {
		return plus(certain(), exact(t.Pure()), 1), false
	}
	law = certain()
	for _, r := range t.pures {
		law = plus(law, exact(r.loss), int(r.count))
	}
	return law, true
}

// asMu returns µ with every pure loss converted to a Gaussian one.
func (t Total) asMu() float64 {
	squares := t.squares
	for _, r := range t.pures {
		squares = squares.plus(newFloat().Mul(square(PureMu(r.loss)), exact(r.count)))
	}
	return rootUp(squares.float())
}

// asMixed composes a law of losses with a Gaussian loss.
type asMixed struct {
	law []outcome
	mu  float64
}

func (m asMixed) delta(epsilon float64) float64 {
	return probability(mixedDelta(exact(epsilon), m.law, m.mu))
}
func (m asMixed) epsilon(delta float64) float64 { return mixedEpsilon(m.law, m.mu, delta) }

// asRenyi converts all losses to Rényi divergences.
type asRenyi struct{ all renyi }

func (r asRenyi) delta(epsilon float64) float64 { return probability(r.all.delta(epsilon)) }
func (r asRenyi) epsilon(delta float64) float64 { return RoundUp(r.all.epsilon(delta)) }

// asSplit converts a zCDP loss to (ε₁, δ₁): a pure loss ε₁ that composes with the others, and δ₁ added at the end.
type asSplit struct {
	zcdp renyi
	law  []outcome
	mu   float64
}

// delta returns the smallest δ over all ε₁.
func (s asSplit) delta(epsilon float64) float64 {
	if epsilon == 0 {
		return 1
	}
	rough := s.zcdp.rough()
	first := least(epsilon*0x1p-40, epsilon, func(first float64) float64 {
		return rough.delta(first) + roughMixed(epsilon, plus(s.law, exact(first), 1), s.mu)
	})
	delta := mixedDelta(exact(epsilon), plus(s.law, exact(first), 1), s.mu)
	return probability(outward(delta.Add(delta, s.zcdp.delta(first))))
}

// epsilon returns the smallest ε over all δ₁.
func (s asSplit) epsilon(delta float64) float64 {
	rough := s.zcdp.rough()
	first := least(delta*0x1p-40, delta, func(first float64) float64 {
		law := plus(s.law, exact(rough.epsilon(first)), 1)
		return root(func(x float64) bool { return roughMixed(x, law, s.mu) > delta-first })
	})
	rest := math.Nextafter(delta-first, 0)
	if !(first > 0 && rest > 0) {
		return math.Inf(1)
	}
	return mixedEpsilon(plus(s.law, s.zcdp.epsilon(first), 1), s.mu, rest)
}

// least returns a point near the minimum of f in [low, high], 0 < low < high, by golden-section search on a logarithmic
// scale.
func least(low, high float64, f func(float64) float64) float64 {
	const section = 0.6180339887498949 // (√5 − 1)/2, of golden-section search
	a, b := math.Log(low), math.Log(high)
	x, y := b-section*(b-a), a+section*(b-a)
	fx, fy := f(math.Exp(x)), f(math.Exp(y))
	for range 40 { // leaves 0.618⁴⁰ < 10⁻⁸ of the width
		if fx <= fy {
			b, y, fy = y, x, fx
			x = b - section*(b-a)
			fx = f(math.Exp(x))
		} else {
			a, x, fx = x, y, fy
			y = a + section*(b-a)
			fy = f(math.Exp(y))
		}
	}
	return math.Exp((a + b) / 2)
}
