package lattice

import (
	"math"
	"math/big"
	"testing"
)

// TestFineGrids checks that a finer grid has the clip's floor as Λ, that contributions are inside its ball and near
// their vectors, and that Contains is exact.
func TestFineGrids(t *testing.T) {
	r := source(t, 9)
	for _, size := range []int{CoarseBits, 27, 31, 32, 33, 40, FineBits} {
		for _, clip := range []float64{1, 0.1, 5, math.Pi, math.Nextafter(2, 0), math.Ldexp(1, -512), math.Ldexp(1, 512)} {
			g, err := NewFineGrid(clip, size)
			if err != nil {
				t.Fatal(err)
			}
			ratio := new(big.Rat).SetFloat64(clip)
			ratio.Quo(ratio, new(big.Rat).SetFloat64(math.Ldexp(1, g.Exp)))
			floor := new(big.Int).Quo(ratio.Num(), ratio.Denom())
			if floor.Int64() != g.Lambda || g.Bits() != size || g.ValidateFine() != nil ||
				(g.Validate() == nil) != (size == CoarseBits) {
				t.Errorf("NewFineGrid(%g, %d) = %+v, want Lambda %v", clip, size, g, floor)
			}
			for range 200 {
				v, contribution := make([]float64, 5), make([]int64, 5)
				for i := range v {
					v[i] = r.NormFloat64() * clip * 0.5
				}
				g.Quantise(contribution, v)
				if !g.Contains(contribution) || !contains(g, contribution) {
					t.Fatalf("%+v: contribution %d of %g is outside", g, contribution, v)
				}
				factor := min(1, g.Clip()/Norm(v))
				for i, x := range contribution {
					if want := v[i] * factor / g.Unit(); math.Abs(float64(x)-want) > 4 {
						t.Fatalf("%+v: entry %d of %g, want %.1f", g, x, v, want)
					}
				}
			}
			a := r.Int64N(g.Lambda)
			root := new(big.Int).Mul(big.NewInt(g.Lambda), big.NewInt(g.Lambda))
			root.Sub(root, new(big.Int).Mul(big.NewInt(a), big.NewInt(a))).Sqrt(root)
			for b := root.Int64() - 2; b < root.Int64()+3; b++ {
				if contribution := []int64{-a, b}; g.Contains(contribution) != contains(g, contribution) {
					t.Errorf("%+v: Contains(%d) = %v", g, contribution, g.Contains(contribution))
				}
			}
		}
	}
	for _, size := range []int{CoarseBits - 1, FineBits + 1} {
		if _, err := NewFineGrid(1, size); err == nil {
			t.Errorf("%d bits are accepted", size)
		}
	}
	for _, g := range []Grid{
		{Exp: -30, Lambda: 1 << 43},
		{Exp: -24, Lambda: 1<<24 - 1},
		{Exp: 512 - 30 + 1, Lambda: 1 << 30},
		{Exp: -512 - 31, Lambda: 1 << 30},
		{Exp: 512 - 30, Lambda: 1<<30 + 1},
	} {
		if g.ValidateFine() == nil {
			t.Errorf("%+v is valid", g)
		}
	}
}
