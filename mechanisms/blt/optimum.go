package blt

import (
	"math"
	"math/big"

	"oriel/mechanisms/rational"
)

// Optimum returns S_W² rounded down, S_W = Σ_{j<W} r_j² with r_j = C(2j, j)/4^j. No mechanism of PROOF.md, Theorem 2
// has a smaller variance, in units of (Δ/µ(W))². Σb²·Σ_{j<W}d² is the same quantity for a filter.
//
// Sums of more than directTerms terms are bounded from below by S_W > (ln(W − ¼) + γ + 4·ln 2)/π (Falaleev 1991, for
// Landau's constants G_{W−1} = S_W), which is off by less than 1/(50·W²).
func Optimum(window uint64) float64 {
	sum := rational.Down()
	if window > directTerms {
		const offset = 3.34980438714131 // γ + 4·ln 2, rounded down
		f := (math.Log(float64(window)-0.25) + offset) / math.Pi
		return f * f * (1 - 0x1p-45) // rounded down: covers the operations above
	}
	term := rational.Down().SetUint64(1) // r_j, coefficient j of 1/√(1 − x)
	for j := range window {
		sum.Add(sum, rational.Down().Mul(term, term))
		term.Mul(term, rational.Down().SetUint64(2*j+1))
		term.Quo(term, rational.Down().SetUint64(2*j+2))
	}
	square, accuracy := rational.Down().Mul(sum, sum).Float64()
	if accuracy == big.Above {
		square = math.Nextafter(square, 0)
	}
	return square
}

const directTerms = 1 << 14
