package sumtest

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"oriel/mechanisms/buffer"
	"oriel/mechanisms/lattice"
)

// Carried is Σ_{j≥1} e_j·n_{t−j} with e_j = Σ_k r_k·q_k^{j−1}, computed exactly from the definition: the slow reference
// model of a carry. Poles q and residues r are dyadics of buffer.FractionBits.
type Carried struct {
	poles    []uint32
	residues []int64
	sums     []*big.Rat // Σ_{j≥1} q_k^{j−1}·n_{t−j}, the carried noise of pole k
}

// NewCarried returns the sum before its first step.
func NewCarried(poles []uint32, residue func(k int) int64) *Carried {
	c := &Carried{poles: poles}
	for k := range poles {
		c.residues, c.sums = append(c.residues, residue(k)), append(c.sums, new(big.Rat))
	}
	return c
}

// Next returns the sum, and then adds n_t.
func (c *Carried) Next(n int64) *big.Rat {
	const unit = 1 << buffer.FractionBits
	m := new(big.Rat)
	for k, sum := range c.sums {
		m.Add(m, new(big.Rat).Mul(big.NewRat(c.residues[k], unit), sum))
		sum.Mul(sum, big.NewRat(int64(c.poles[k]), unit)).Add(sum, big.NewRat(n, 1))
	}
	return m
}

// Disturb adds x to the state of each pole. It plants hidden state, which a test must detect.
func (c *Carried) Disturb(x *big.Rat) {
	for _, sum := range c.sums {
		sum.Add(sum, x)
	}
}

// CarryIsWithin compares a carry with its definition on the same draws, from the first step on. It fails if the
// difference exceeds eta, and returns the largest difference in units of eta.
func CarryIsWithin(
	t testing.TB, carry func(n int64) lattice.Int128, slow *Carried, eta *big.Rat, draws []int64,
) (worst float64) {
	t.Helper()
	for i, n := range draws {
		off := new(big.Rat).SetInt(Integer(carry(n)))
		off.Sub(off, slow.Next(n)).Abs(off).Quo(off, eta)
		if off.Cmp(big.NewRat(1, 1)) > 0 {
			t.Fatalf("step %d: carry is %s η from its definition", i+1, off.FloatString(3))
		}
		x, _ := off.Float64()
		worst = max(worst, x)
	}
	return worst
}

// Extremes returns sequences of draws of the given length: at ±top, small, constant, alternating and random.
func Extremes(rng *rand.Rand, top int64, length int) (all [][]int64) {
	for _, draw := range []func(i int) int64{
		func(int) int64 { return top },
		func(int) int64 { return -top },
		func(i int) int64 { return top * int64(1-2*(i&1)) },
		func(int) int64 { return 1 },
		func(int) int64 { return rng.Int64N(9) - 4 },
		func(int) int64 { return rng.Int64N(2*top) - top },
	} {
		draws := make([]int64, length)
		for i := range draws {
			draws[i] = draw(i)
		}
		all = append(all, draws)
	}
	return all
}
