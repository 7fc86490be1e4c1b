package dp

import (
	"fmt"
	"math"
	"math/big"
)

// ZCDPDelta returns δ(ε) of a ρ-zCDP mechanism, rounded up:
//
//	δ = inf_{α>1} e^{(α−1)(αρ−ε)}/(α−1)·(1−1/α)^α            (Canonne, Kamath and Steinke 2020, v4, Proposition 12, Corollary 13)
//
// Every α proves a bound. So the best α is searched in floating point, and only its bound is evaluated with directed
// rounding.
func ZCDPDelta(epsilon, rho float64) float64 {
	if !(epsilon >= 0) || !(rho >= 0) {
		panic(fmt.Sprintf("BUG: dp: ZCDPDelta of epsilon %g, rho %g: negative or NaN", epsilon, rho))
	}
	if rho == 0 || math.IsInf(epsilon, 1) {
		return 0
	}
	return probability(renyi{rho: exact(rho)}.delta(epsilon))
}

// ZCDPRho returns the largest float64 ρ with ZCDPDelta(ε, ρ) ≤ δ: noise calibrated to it proves the budget. It returns
// 0 if δ is 0.
func ZCDPRho(b Budget) float64 {
	if !(b.Epsilon >= 0) || !(b.Delta >= 0 && b.Delta < 1) {
		panic(fmt.Sprintf("BUG: dp: ZCDPRho of epsilon %g, delta %g: out of range", b.Epsilon, b.Delta))
	}
	rho, _ := border(0, math.Inf(1),
		func(rho float64) bool { return roughRenyi{rho: rho}.delta(b.Epsilon) <= b.Delta },
		func(rho float64) (bool, float64) { return ZCDPDelta(b.Epsilon, rho) <= b.Delta, math.NaN() })
	return rho
}

// ExponentialRho returns ρ = ε²/8, rounded up, for one ε-DP draw of the exponential mechanism. The draw has bounded
// range ε. Every mechanism of bounded range is ε²/8-zCDP (Cesar and Rogers, "Bounding, Concentrating, and Truncating:
// Unifying Privacy Loss Composition for Data Analytics", ALT 2021, Lemma 3.4). Their source is Dong, Durfee and Rogers,
// "Optimal Differential Privacy Composition for Exponential Mechanisms" (ICML 2020). Pure ε-DP alone gives
// ε·tanh(ε/2), about four times as much.
func ExponentialRho(epsilon float64) float64 {
	mustBeLoss("ExponentialRho", epsilon)
	if math.IsInf(epsilon, 1) {
		return epsilon
	}
	rho := exact(epsilon)
	return RoundUp(rho.Mul(rho, rho).Quo(rho, exact(8)))
}

// renyi is a mechanism with D_α ≤ αρ + Σ count·D_α(randomised response of loss) for every α > 1 (PROOF.md, Theorem 3);
// ρ is finite.
//
// Below, t = α − 1 > 0 and K(t) = t·D_{1+t} ≤ ρt(1+t) + Σ count·(ln cosh((t+½)l) − ln cosh(l/2)) over the losses l. In
// the code the difference of logarithms is tl + ln(1+e^{−(2t+1)l}) − ln(1+e^{−l}), and Proposition 12 in terms of t is
//
//	ln δ = K(t) − tε − t·ln(1+1/t) − ln(1+t)          ε = (K(t) + ln(1/δ) − ln(1+t))/t − ln(1+1/t)
type renyi struct {
	rho   *big.Float
	pures []responses
}

// delta returns an upper bound on δ(ε), ε finite.
func (r renyi) delta(epsilon float64) *big.Float {
	t := exact(r.rough().orderOfDelta(epsilon))
	b := newBound()
	r.addK(b, t)
	inverse := newFloat().Quo(exact(1), t)
	b.add(
		newFloat().Neg(newFloat().Mul(t, exact(epsilon))),
		newFloat().Neg(newFloat().Mul(t, log1p(inverse))),
		newFloat().Neg(log1p(t)),
	)
	switch log := b.up(); {
	case log.Sign() >= 0:
		return exact(1)
	case log.Cmp(exact(-maxExponent)) < 0:
		return negligible()
	default:
		return outward(exponential(log))
	}
}

// epsilon returns an upper bound on ε at 0 < δ < 1, never negative.
func (r renyi) epsilon(delta float64) *big.Float {
	log := logarithm(exact(delta))
	rough, _ := log.Float64()
	t := exact(r.rough().orderOfEpsilon(-rough))
	b := newBound()
	r.addK(b, t)
	b.add(newFloat().Neg(log), newFloat().Neg(log1p(t)))
	b.value.Quo(b.value, t)
	b.size.Quo(b.size, t)
	b.add(newFloat().Neg(log1p(newFloat().Quo(exact(1), t))))
	epsilon := b.up()
	if epsilon.Sign() < 0 {
		return newFloat()
	}
	return epsilon
}

// addK adds the terms of K(t).
func (r renyi) addK(b bound, t *big.Float) {
	next := newFloat().Add(exact(1), t)
	b.add(next.Mul(next, t).Mul(next, r.rho))
	for _, pure := range r.pures {
		loss, count := exact(pure.loss), exact(pure.count)
		term := newFloat().Mul(t, loss)
		b.add(term.Mul(term, count))
		odd := newFloat().Add(exact(1), newFloat().Add(t, t))
		term = negligible() // uses ln(1+x) ≤ x
		if odd.Mul(odd, loss); odd.Cmp(exact(maxExponent)) <= 0 {
			term = log1p(exponential(odd.Neg(odd)))
		}
		b.add(term.Mul(term, count))
		if pure.loss <= maxExponent { // the last term only improves the bound, so it may be skipped for larger losses
			term = log1p(exponential(loss.Neg(loss)))
			b.add(term.Mul(term, count.Neg(count)))
		}
	}
}

func (r renyi) rough() roughRenyi {
	rho, _ := r.rho.Float64()
	return roughRenyi{rho, r.pures}
}

// roughRenyi is renyi in floating point, without control of rounding. It finds the orders t = α − 1 at which the bounds
// of renyi are smallest; a bad order costs only tightness. ln δ is convex in t, because K is. So the best order, for δ
// and for ε, is the only root of an increasing function.
type roughRenyi struct {
	rho   float64
	pures []responses
}

// k returns K(t).
func (r roughRenyi) k(t float64) float64 {
	k := r.rho * t * (1 + t)
	for _, pure := range r.pures {
		k += pure.count * (t*pure.loss + math.Log1p(math.Exp(-(2*t+1)*pure.loss)) - math.Log1p(math.Exp(-pure.loss)))
	}
	return k
}

// slope returns K'(t).
func (r roughRenyi) slope(t float64) float64 {
	slope := (2*t + 1) * r.rho
	for _, pure := range r.pures {
		slope += pure.count * pure.loss * math.Tanh((t+0.5)*pure.loss)
	}
	return slope
}

// orderOfDelta solves K'(t) − ln(1+1/t) = ε.
func (r roughRenyi) orderOfDelta(epsilon float64) float64 {
	return root(func(t float64) bool { return r.slope(t)-math.Log1p(1/t) < epsilon })
}

// orderOfEpsilon solves t·K'(t) − K(t) + ln(1+t) = ln(1/δ), given the right side.
func (r roughRenyi) orderOfEpsilon(log float64) float64 {
	return root(func(t float64) bool { return t*r.slope(t)-r.k(t)+math.Log1p(t) < log })
}

func (r roughRenyi) delta(epsilon float64) float64 {
	t := r.orderOfDelta(epsilon)
	return math.Exp(r.k(t) - t*epsilon - t*math.Log1p(1/t) - math.Log1p(t))
}

func (r roughRenyi) epsilon(delta float64) float64 {
	log := -math.Log(delta)
	t := r.orderOfEpsilon(log)
	return max(0, (r.k(t)+log-math.Log1p(t))/t-math.Log1p(1/t))
}

// root returns a positive t at which below changes from true to false, within a range in which 1/t and t² are finite.
func root(below func(float64) bool) float64 {
	_, t := border(0x1p-500, 0x1p+500, below, func(t float64) (bool, float64) { return below(t), math.NaN() })
	return t
}
