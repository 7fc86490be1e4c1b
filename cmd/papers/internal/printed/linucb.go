package printed

import (
	"math"
	"math/bits"

	"oriel/mechanisms/dp"
	"oriel/operators/elementary"
)

// Values of ORIEL_NOISE for linucb.
const (
	symmetric = "paper"
	wishart   = "paper-wishart"
)

// contextual has the noise of Shariff and Sheffet, "Differentially Private Contextual Linear Bandits" (NeurIPS 2018),
// section 4.
type contextual struct{}

// levels returns m, the largest number of tree nodes that cover a prefix of n steps: ⌈log₂ n⌉ + 1.
func levels(n float64) float64 { return float64(bits.Len64(uint64(n)-1) + 1) }

// freedom returns k, the degrees of freedom of a node's Wishart noise.
func freedom(n, d float64, b dp.Budget) float64 {
	times := float64(224*levels(n)) / float64(b.Epsilon*b.Epsilon)
	times = float64(times * elementary.Log(float64(8*levels(n))/b.Delta))
	return d + 1 + math.Ceil(float64(times*elementary.Log(2/b.Delta)))
}

// sigma returns the standard deviation of a node's Gaussian noise: 4√m·L̃²·ln(4/δ)/ε.
func sigma(n, square float64, b dp.Budget) float64 {
	return float64(float64(float64(4*math.Sqrt(levels(n)))*square)*elementary.Log(4/b.Delta)) / b.Epsilon
}

// Mu returns the µ of a row that is in m nodes and moves each of them by at most L̃².
func (contextual) Mu(noise string, n, d, square float64, b dp.Budget) float64 {
	s := sigma(n, square, b)
	if noise != symmetric {
		s = float64(square * math.Sqrt(freedom(n, d, b)))
	}
	return float64(square*math.Sqrt(levels(n))) / s
}

// Shift returns 2Υ. For Gaussian noise, Υ = σ√(2m)·(4√d + 2·ln(2n/α)).
//
// For Wishart noise L̃²√(mk) is the deviation and L̃²mk the mean. With e = √d + √(2·ln(8n/α)), the shift of Eq. (4)
// subtracts L̃²((√(mk) − e)² − 4√(mk)·e) from the mean, if this amount is positive.
func (contextual) Shift(noise string, d, square, sd, n, failure float64) float64 {
	root := math.Sqrt(d)
	if noise == symmetric {
		wide := float64(4*root) + float64(2*elementary.Log(float64(2*n)/failure))
		return float64(2 * float64(float64(math.Sqrt2*sd)*wide))
	}
	degrees, edge := sd/square, root+math.Sqrt(float64(2*elementary.Log(float64(8*n)/failure)))
	mean := float64(square * float64(degrees*degrees))
	if noise == wishart {
		mean = min(mean, float64(float64(square*edge)*(float64(6*degrees)-edge)))
	}
	return mean
}
