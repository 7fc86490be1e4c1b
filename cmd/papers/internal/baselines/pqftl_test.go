package baselines

import (
	"math"
	"testing"

	"oriel/mechanisms/dp"
	"oriel/operators/moments"
)

// wide returns PQFTL of twelve features, over one tree.
func wide(t *testing.T, epsilon float64, key byte) *PQFTL {
	t.Helper()
	c := config(t, "l2-ball", 12)
	c.Budget.Epsilon = epsilon
	p, err := NewPQFTL(c, "tree-gaussian", 2, [32]byte{key})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// axis returns a loss of which only the i-th feature is not zero.
func axis(i int, size, label float64) Loss {
	f := Loss{Features: make([]float64, 12), Label: label}
	f.Features[i] = size
	return f
}

// norm returns the ℓ2 norm of a − b in units of the noise of a number off the diagonal. The noise of numbers on the
// diagonal has twice the variance.
func norm(a, b moments.Symmetric) (norm float64) {
	for i := range a.Size {
		for k := range i + 1 {
			d := a.At(i, k) - b.At(i, k)
			if i == k {
				d /= math.Sqrt2
			}
			norm = math.Hypot(norm, d)
		}
	}
	return norm
}

// TestReleasesOfPQFTLMoveByTwo checks, with almost no noise, that an exchange of one loss moves the release of PQFTL by
// at most 2, however long the loss's features are, and that the worst pair of losses moves it by 2.
func TestReleasesOfPQFTLMoveByTwo(t *testing.T) {
	farthest := 0.0
	for _, pair := range [][2]Loss{
		{axis(0, 1, 2), axis(0, 1, -2)},
		{axis(0, 1e3, 1e6), axis(0, 1e3, -1e6)},
		{axis(0, 1e3, 1e6), axis(5, -7, -1e9)},
		{axis(0, 1, 2), axis(0, 0, 0)},
	} {
		both := [2]*PQFTL{wide(t, 1e12, 1), wide(t, 1e12, 1)}
		for i := range 5 {
			for k, p := range both {
				f := axis(i, 1, 1)
				if i == 2 {
					f = pair[k]
				}
				p.Step(f)
			}
			rows := both[0].rows
			far := norm(rows.Block(both[0].stream.Sum(0), 0), rows.Block(both[1].stream.Sum(0), 0))
			if i < 2 && far > 1e-3 || far > 2+1e-3 {
				t.Fatalf("%+v, step %d: releases are %g apart, at most 2", pair, i+1, far)
			}
			farthest = max(farthest, far)
		}
	}
	if farthest < 2-1e-3 {
		t.Errorf("releases are never farther apart than %g", farthest)
	}
}

// TestNoiseOfPQFTL checks that the noise of a node of PQFTL's tree is 2√h/m, where h = 9 nodes cover each of the 256
// contributions, and the budget's guarantee is m-GDP. The variance of 40 draws of 91 numbers has a relative standard
// error of √(2/3640); the test allows 6.11 times as much.
func TestNoiseOfPQFTL(t *testing.T) {
	const h, draws, size = 9, 40, 13 * 14 / 2
	node := 2 * math.Sqrt(h) / dp.GaussianMu(dp.Budget{Epsilon: 1, Delta: 1e-6})
	sum := 0.0
	for key := range draws {
		p := wide(t, 1, byte(key))
		p.Step(axis(0, 0, 0))
		zero := moments.Symmetric{Size: 13, Values: make([]float64, size)}
		z := norm(p.rows.Block(p.stream.Sum(0), 0), zero) / node
		sum += z * z / (draws * size)
	}
	if z := (sum - 1) / math.Sqrt(2.0/(draws*size)); math.Abs(z) > 6.11 {
		t.Errorf("noise of a node has %g of its variance", sum)
	}
}
