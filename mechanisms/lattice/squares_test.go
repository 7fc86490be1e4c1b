package lattice

import (
	"math"
	"math/big"
	"testing"
)

// TestWordsAreExact checks that a word reports its sum as exact only for the documented counts and sizes, and that it
// then equals the sum in big integers.
func TestWordsAreExact(t *testing.T) {
	r := source(t, 7)
	for _, count := range []int{0, 1, 2, 33, wordCount - 1, wordCount, wordCount + 1, 4 * wordCount} {
		for _, size := range []int64{1, wordSize / 2, wordSize - 1, wordSize, wordSize + 1, 1 << 32, math.MaxInt64} {
			for _, negative := range []bool{false, true} {
				short, sum, small := word{}, new(big.Int), true
				for i := range count {
					x := size
					if i > 0 && size < math.MaxInt64 {
						x -= r.Int64N(min(size, 3))
					}
					if negative {
						x = -x
					}
					small = small && -wordSize <= x && x < wordSize
					short = short.plus(x)
					sum.Add(sum, new(big.Int).Mul(big.NewInt(x), big.NewInt(x)))
				}
				if want := small && count <= wordCount; short.exact(count) != want {
					t.Errorf("%d numbers of %d, negative %t: exact is %t", count, size, negative, !want)
				} else if want && sum.Cmp(new(big.Int).SetUint64(short.sum)) != 0 {
					t.Errorf("%d numbers of %d, negative %t: the sum is %d, want %d", count, size, negative, short.sum, sum)
				}
			}
		}
	}
}

// TestLongSumsAreComparedExactly checks sums of squares that exceed 64 bits, because a coordinate is large or there are
// many coordinates. A sum at the bound must be accepted, and a sum above it refused.
func TestLongSumsAreComparedExactly(t *testing.T) {
	large, err := NewFineGrid(1, FineBits)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		grid  Grid
		count int
	}{{large, 2}, {coarse, wordCount + 1}} {
		radius := c.grid.Lambda / 2
		b := ball{g: c.grid, unit: powerOfTwo(-c.grid.Exp), radius: radius}
		for _, sign := range []int64{-1, 1} {
			for _, more := range []int64{0, 1} {
				n, near, centre := make([]int64, c.count), make([]int64, c.count), make([]float64, c.count)
				n[0], n[c.count-1] = sign*c.grid.Lambda, more
				near[0], near[c.count-1] = sign*radius, more
				for i, x := range near {
					centre[i] = float64(x) * c.grid.Unit()
				}
				for what, got := range map[string]bool{
					"Contains": c.grid.Contains(n), "contains": b.contains(near), "allows": b.allows(centre, radius),
				} {
					if got != (more == 0) {
						t.Errorf("%d coordinates, Lambda %d, %+d beyond the bound: %s is %t", c.count, c.grid.Lambda, more, what, got)
					}
				}
			}
		}
	}
}
