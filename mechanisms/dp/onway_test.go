package dp

import (
	"math"
	"testing"
)

// participant is a user who decides, from the indices drawn so far, whether the next draw's scores depend on the user's
// events.
type participant func(drawn []int) bool

// hockeyStick returns H_{e^ε} between two neighbouring histories of a number of draws, by enumeration, and the mean and
// largest number of draws that the user affects. An affected draw is by the exponential mechanism, with loss each, on
// the scores (Δ, 0) and (0, Δ). Any other draw is a fair coin.
func hockeyStick(epsilon, each float64, draws int, u participant) (delta, mean float64, most int) {
	var walk func(drawn []int, p, q float64, moved int)
	walk = func(drawn []int, p, q float64, moved int) {
		if len(drawn) == draws {
			delta += max(0, p-math.Exp(epsilon)*q)
			mean += p * float64(moved)
			most = max(most, moved)
			return
		}
		better, more := 0.5, 0
		if u(drawn) {
			better, more = 1/(1+math.Exp(-each/2)), 1
		}
		for i := range 2 {
			walk(append(drawn[:len(drawn):len(drawn)], i), p*better, q*(1-better), moved+more)
			better = 1 - better
		}
	}
	walk(nil, 1, 1, 0)
	return delta, mean, most
}

// TestAdaptiveZCDPLossesAreWithinTheWorstHistory checks Lemma 6: for a user whose participation depends on earlier
// draws, the loss is at most that of the largest number of affected draws in any history, in ρ and in ε. A claim from
// the mean number over histories must be too small.
func TestAdaptiveZCDPLossesAreWithinTheWorstHistory(t *testing.T) {
	const draws, each = 12, 0.8
	ones := func(drawn []int) (n int) {
		for _, i := range drawn {
			n += i
		}
		return n
	}
	below := 0
	for what, u := range map[string]participant{
		"always":                 func([]int) bool { return true },
		"after three rare draws": func(drawn []int) bool { return len(drawn) >= 3 && ones(drawn[:3]) == 0 },
		"while it goes well":     func(drawn []int) bool { return ones(drawn) == 0 },
		"where draws are level":  func(drawn []int) bool { return 2*ones(drawn) == len(drawn) },
	} {
		for _, epsilon := range []float64{0, 0.4, 1, 2, 3} {
			truth, mean, most := hockeyStick(epsilon, each, draws, u)
			claim := func(count float64) float64 {
				var total Total
				total.AddRho(count * ExponentialRho(each))
				return total.Delta(epsilon)
			}
			if got := claim(float64(most)); got < truth {
				t.Errorf("%s: δ(%g) = %g is claimed of %d draws, the truth is %g", what, epsilon, got, most, truth)
			}
			if claim(mean) < truth {
				below++
			}
		}
	}
	if below == 0 {
		t.Error("the mean over histories is never below the truth: the test shows nothing")
	}
}
