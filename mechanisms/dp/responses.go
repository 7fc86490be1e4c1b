package dp

import (
	"math"
	"math/big"
)

// responses are count independent randomised responses. The privacy loss of each is loss with probability p =
// 1/(1+e^−loss), otherwise −loss. No ε-DP mechanism loses more than the one with loss ε (Kairouz, Oh and Viswanath
// 2015).
type responses struct{ loss, count float64 }

// outcome is a privacy loss and its probability, exact or rounded up with a relative error below 2⁻¹⁷⁰.
type outcome struct {
	weight, loss           *big.Float
	roughWeight, roughLoss float64
}

func newOutcome(weight, loss *big.Float) outcome {
	o := outcome{weight: weight, loss: loss}
	o.roughWeight, _ = weight.Float64()
	o.roughLoss, _ = loss.Float64()
	return o
}

// certain returns the law of a loss that is always 0.
func certain() []outcome { return []outcome{newOutcome(exact(1), newFloat())} }

// plus returns the law of the sum of a loss with this law and the loss of count responses; count is at most some
// hundred.
func plus(law []outcome, loss *big.Float, count int) []outcome {
	if loss.Cmp(exact(maxExponent)) > 0 { // p = 1 bounds the loss from above
		return shifted(nil, law, exact(1), loss, count)
	}
	decay := exponential(newFloat().Neg(loss))
	weight, p := exact(1), newFloat().Quo(exact(1), newFloat().Add(exact(1), decay))
	for range count {
		weight.Mul(weight, p)
	}
	var sum []outcome
	for up := count; up >= 0; up-- { // weight = C(count, up)·p^up·(1−p)^(count−up)
		sum = shifted(sum, law, weight, loss, 2*up-count)
		weight.Mul(weight, decay).Mul(weight, exact(float64(up))).Quo(weight, exact(float64(count-up+1)))
	}
	return sum
}

// shifted appends law, with all probabilities times weight and all losses increased by times·loss.
func shifted(dst, law []outcome, weight, loss *big.Float, times int) []outcome {
	for _, o := range law {
		shift := newFloat().SetMode(big.ToPositiveInf)
		shift.Mul(loss, exact(float64(times)))
		dst = append(dst, newOutcome(newFloat().Mul(o.weight, weight), shift.Add(shift, o.loss)))
	}
	return dst
}

// mixedDelta bounds δ(ε), ε ≥ 0 finite, of the composition of mechanisms whose loss has the given law, and a
// µ-Gaussian-DP mechanism: Σ p_j·δ_µ(ε − l_j) over the outcomes (PROOF.md, Theorem 2).
func mixedDelta(epsilon *big.Float, law []outcome, mu float64) *big.Float {
	sum := newFloat()
	for _, o := range law {
		delta := gaussianDelta(newFloat().Sub(epsilon, o.loss), mu)
		sum.Add(sum, delta.Mul(delta, o.weight))
	}
	if len(law) == 1 {
		return sum // the total weight is 1
	}
	return outward(sum)
}

// mixedEpsilon inverts mixedDelta: it returns the smallest float64 ε with δ(ε) ≤ δ, or +Inf.
func mixedEpsilon(law []outcome, mu, delta float64) float64 {
	above := func(epsilon float64) (bool, float64) {
		bound := probability(mixedDelta(exact(epsilon), law, mu))
		return bound > delta, bound - delta
	}
	if some, _ := above(0); !some {
		return 0
	}
	_, epsilon := border(0, math.Inf(1), func(epsilon float64) bool { return roughMixed(epsilon, law, mu) > delta }, above)
	return epsilon
}

// roughMixed is mixedDelta in floating point, without control of rounding or range.
func roughMixed(epsilon float64, law []outcome, mu float64) (delta float64) {
	for _, o := range law {
		delta += o.roughWeight * roughDelta(epsilon-o.roughLoss, mu)
	}
	return delta
}
