package bound

import (
	"math"

	"gonum.org/v1/gonum/mathext"
	"gonum.org/v1/gonum/stat/distuv"
)

// Lower returns the lower Clopper-Pearson limit, at confidence 1 − α, of a success rate after k successes in n trials:
// the p with P(Binomial(n, p) ≥ k) = α, that is I_p(k, n−k+1) = α, rounded down. It also holds for dependent trials
// whose success probabilities, given the trials before, are at most p. 0 ≤ k ≤ n.
func Lower(k, n int, alpha float64) float64 {
	switch {
	case k <= 0 || n <= 0:
		return 0
	case k == n:
		return math.Pow(alpha, 1/float64(n)) * (1 - 0x1p-40)
	}
	low, high := 0.0, 1.0
	for range 70 { // bisection, because gonum's own quantile is inaccurate in the tails
		if middle := (low + high) / 2; mathext.RegIncBeta(float64(k), float64(n-k+1), middle) < alpha {
			low = middle
		} else {
			high = middle
		}
	}
	return low * (1 - 0x1p-30) // rounded down: gonum's incomplete beta function is accurate to some 1e-11
}

// Mu returns the largest µ that k right guesses of n fair coins refute at confidence 1 − α, because a guess of the coin
// of a µ-GDP mechanism is right with probability at most Φ(µ/2).
func Mu(k, n int, alpha float64) float64 {
	return max(0, 2*distuv.UnitNormal.Quantile(Lower(k, n, alpha)))
}

// Epsilon returns the largest ε that k right guesses out of r, in n runs, refute at confidence 1 − α. Under (ε, δ)-DP
// at most T of the runs reveal their coin, T ~ Binomial(n, δ), and every other guess is right with probability at most
// e^ε/(1 + e^ε). A tenth of α pays for the event that T exceeds the number subtracted from k.
func Epsilon(k, r, n int, delta, alpha float64) float64 {
	revealed, alpha := revealedRuns(n, delta, alpha)
	p := Lower(k-revealed, r, alpha)
	return max(0, math.Log(p)-math.Log1p(-p))
}

// EpsilonAbove reports whether Epsilon is above a bound of at least 0, up to rounding. It is much cheaper than Epsilon,
// because it computes only one binomial tail and compares it with α. It is for searches in which the last digits of
// Epsilon do not matter.
func EpsilonAbove(epsilon float64, k, r, n int, delta, alpha float64) bool {
	revealed, alpha := revealedRuns(n, delta, alpha)
	if k -= revealed; k <= 0 || r <= 0 {
		return false
	}
	return mathext.RegIncBeta(float64(k), float64(r-k+1), 1/(1+math.Exp(-epsilon))) < alpha
}

// revealedRuns returns how many of n runs Epsilon assumes to have revealed their coin, and the remaining part of α.
func revealedRuns(n int, delta, alpha float64) (revealed int, left float64) {
	if delta == 0 {
		return 0, alpha
	}
	// RegIncBeta is P(T ≥ revealed + 1).
	for revealed < n && mathext.RegIncBeta(float64(revealed+1), float64(n-revealed), delta) > alpha/10 {
		revealed++
	}
	return revealed, alpha * 0.9
}
