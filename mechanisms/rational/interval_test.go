package rational

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

func TestIntervalsHoldTheirResults(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 2000 {
		a, b := 4*rng.Float64()-2, 4*rng.Float64()-2
		at := func(x float64) Interval { return Interval{Down().SetFloat64(x), Up().SetFloat64(x)} }
		x, y := at(a), at(b)
		p, q := new(big.Rat).SetFloat64(a), new(big.Rat).SetFloat64(b)
		f := func(what string, got Interval, want *big.Rat) {
			t.Helper()
			lo, _ := got.Lo.Rat(nil)
			hi, _ := got.Hi.Rat(nil)
			if lo.Cmp(want) > 0 || hi.Cmp(want) < 0 {
				t.Fatalf("%s of %g, %g: [%g, %g]", what, a, b, got.Lo, got.Hi)
			}
		}
		f("sum", x.Add(y), new(big.Rat).Add(p, q))
		f("difference", x.Sub(y), new(big.Rat).Sub(p, q))
		f("product", x.Mul(y), new(big.Rat).Mul(p, q))
		f("inverse", x.Inverse(), new(big.Rat).Inv(p))
		square := x.Mul(x)
		root := square.Root()
		if root.Lo.Cmp(Down().SetFloat64(math.Abs(a))) > 0 || root.Hi.Cmp(Up().SetFloat64(math.Abs(a))) < 0 {
			t.Fatalf("root of %g²: [%g, %g]", a, root.Lo, root.Hi)
		}
	}
	if x := (Interval{Dyadic(-1, -200).Lo, Whole(4).Hi}).Root(); x.Lo.Sign() > 0 || x.Hi.Cmp(big.NewFloat(2)) < 0 {
		t.Errorf("the root of what is in [−2^-200, 4] is in [%g, %g]", x.Lo, x.Hi)
	}
	if x := Dyadic(1, -1).Power(1 << 60); x.Lo.Sign() != 0 || x.Hi.MantExp(nil) > tiny+1 {
		t.Errorf("2^-2^60 is in [%g, %g]", x.Lo, x.Hi)
	}
}

// TestProductsOfWideIntervals compares a product with the least and the largest product of two ends, for intervals of
// all signs.
func TestProductsOfWideIntervals(t *testing.T) {
	for _, x := range wideIntervals() {
		for _, y := range wideIntervals() {
			lo, hi := math.Inf(1), math.Inf(-1)
			for _, a := range []*big.Float{x.Lo, x.Hi} {
				for _, b := range []*big.Float{y.Lo, y.Hi} {
					product, _ := new(big.Float).Mul(a, b).Float64()
					lo, hi = min(lo, product), max(hi, product)
				}
			}
			z := x.Mul(y)
			if z.Lo.Cmp(big.NewFloat(lo)) != 0 || z.Hi.Cmp(big.NewFloat(hi)) != 0 {
				t.Errorf("[%g, %g]·[%g, %g] = [%g, %g], want [%g, %g]", x.Lo, x.Hi, y.Lo, y.Hi, z.Lo, z.Hi, lo, hi)
			}
		}
	}
}

// wideIntervals returns the intervals between small integers, so that products are exact.
func wideIntervals() (out []Interval) {
	for lo := int64(-3); lo <= 3; lo++ {
		for hi := lo; hi <= 3; hi++ {
			out = append(out, Interval{Down().SetInt64(lo), Up().SetInt64(hi)})
		}
	}
	return out
}
