package fit

import (
	"math"
	"strings"
)

// DecayLoss is log Σb²·Σc² of e = Π(1 − p_i·x)/Π(1 − q_k·x), b = e/(1 − γx) and c = 1/e, γ = 1 − rate: the logarithm of
// the variance of a decaying sum at equal lifetime guarantee.
func (r Rates) DecayLoss(rate float64) float64 {
	var poles, zeros [maxPoles]float64
	b := Rates{Poles: append(append(poles[:0], r.Poles...), rate), Zeros: append(append(zeros[:0], r.Zeros...), 1)}
	c := Rates{Poles: r.Zeros, Zeros: r.Poles}
	return math.Log(b.energy()) + math.Log(c.energy())
}

// Decay minimises DecayLoss over m zeros and m poles that alternate, starting with a zero, from several log-spaced
// starts. ok is false if no start gives a finite loss.
func Decay(rate float64, m int) (best Rates, loss float64, ok bool) {
	loss = math.Inf(1)
	for _, slow := range []float64{1.5, 3} {
		r := order(strings.Repeat("ZP", m)).search(1/rate, slow, func(r Rates) float64 { return r.DecayLoss(rate) })
		if y := r.DecayLoss(rate); y < loss {
			best, loss, ok = r, y, true
		}
	}
	return best, loss, ok
}
