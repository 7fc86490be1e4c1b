package rational

import (
	"math"
	"math/big"
	"testing"

	"oriel/mechanisms/dp"
)

// closed is Train for given rates and weights, the first rate 1, by geometric and arithmetic-geometric sums with so
// many bits that cancellation does not matter. With j = as + b, Σ_{r≤a} d_{b+rs} = (a+1)D_0 + Σ_i E_i·p_i^b(1 −
// P_i^{a+1}), E_i = D_i/(1 − P_i).
func closed(rates, weights []*big.Float, age, separation, count uint64) *big.Float {
	f := func() *big.Float { return new(big.Float).SetPrec(3000) }
	n := func(x uint64) *big.Float { return f().SetUint64(x) }
	add := func(x, y *big.Float) *big.Float { return f().Add(x, y) }
	sub := func(x, y *big.Float) *big.Float { return f().Sub(x, y) }
	mul := func(x, y *big.Float) *big.Float { return f().Mul(x, y) }
	quo := func(x, y *big.Float) *big.Float { return f().Quo(x, y) }
	power := func(x *big.Float, k uint64) *big.Float {
		z := n(1)
		for x = f().Set(x); k > 0; k >>= 1 {
			if k&1 == 1 {
				z = mul(z, x)
			}
			x = mul(x, x)
			if x.MantExp(nil) < -3000 { // negligible; big.Float would need as many bits to align it
				x = f()
			}
			if z.Sign() != 0 && z.MantExp(nil) < -3000 {
				z = f()
			}
		}
		return z
	}
	geometric := func(x *big.Float, terms uint64) *big.Float { // Σ_{j<terms} x^j
		if x.Cmp(n(1)) == 0 {
			return n(terms)
		}
		return quo(sub(n(1), power(x, terms)), sub(n(1), x))
	}
	ramp := func(x *big.Float, q uint64) *big.Float { // Σ_{a≤q} a·x^a
		rest := sub(n(1), mul(n(q+1), power(x, q)))
		rest = add(rest, mul(n(q), power(x, q+1)))
		return quo(mul(x, rest), mul(sub(n(1), x), sub(n(1), x)))
	}
	rows := min(age/separation, count)
	q, sum := rows, f()
	last := rows // a for the remaining terms
	if rows == count {
		last = rows - 1
	}
	for i := range rates {
		for k := range rates {
			p, r := power(rates[i], separation), power(rates[k], separation)
			x := mul(rates[i], rates[k])
			var over *big.Float // Σ_{a≤q} (1 − P^a)/(1 − P)·(1 − R^a)/(1 − R); the factor is a where a rate is 1
			heights := func(p *big.Float, a uint64) *big.Float { return geometric(p, a) }
			switch {
			case i == 0 && k == 0:
				over = quo(mul(mul(n(q), n(q+1)), add(mul(n(2), n(q)), n(1))), n(6))
			case i == 0 || k == 0:
				y := p
				if i == 0 {
					y = r
				}
				over = quo(sub(quo(mul(n(q), n(q+1)), n(2)), ramp(y, q)), sub(n(1), y))
			default:
				pq := mul(p, r)
				over = sub(sub(add(n(q), mul(pq, geometric(pq, q))), mul(p, geometric(p, q))), mul(r, geometric(r, q)))
				over = quo(over, mul(sub(n(1), p), sub(n(1), r)))
			}
			part := mul(over, geometric(x, separation))
			rest := mul(mul(heights(p, last+1), heights(r, last+1)), geometric(x, age-rows*separation))
			if rows == count {
				rest = mul(rest, power(x, separation))
			}
			sum = add(sum, mul(mul(weights[i], weights[k]), add(part, rest)))
		}
	}
	return sum
}

// TestTrainIsItsClosedForm checks that at 2⁴⁰ events, ages up to 2⁶⁴ and rates within 2⁻³⁰ of 1 the sum is still known
// to 120 bits.
func TestTrainIsItsClosedForm(t *testing.T) {
	near := func(exp int) *big.Float { // 1 − 2^exp
		return dp.Float().Sub(big.NewFloat(1), new(big.Float).SetMantExp(big.NewFloat(1), exp))
	}
	rates := []*big.Float{big.NewFloat(1), near(-30), near(-27), near(-3), big.NewFloat(0.125)}
	weights := []*big.Float{
		big.NewFloat(0x1p-12), big.NewFloat(0x1p-9), big.NewFloat(0.25), big.NewFloat(0.125), big.NewFloat(0.5),
	}
	var s Sum
	for i := range rates {
		s.Rates = append(s.Rates, Interval{rates[i], rates[i]})
		s.Weights = append(s.Weights, Interval{weights[i], weights[i]})
	}
	for _, c := range []struct{ age, separation, count uint64 }{
		{1 << 40, 1, 1 << 40},
		{1 << 40, 1, 1 << 20},
		{1 << 40, 1000, (1<<40-1)/1000 + 1},
		{1<<40 + 12345, 1 << 30, 1 << 10},
		{1 << 30, 1 << 20, 5},
		{math.MaxUint64, 3, (math.MaxUint64-1)/3 + 1},
		{math.MaxUint64, 1 << 20, 7},
		{7, 1 << 62, 1},
		{1 << 63, 1 << 62, 2},
	} {
		want, got := closed(rates, weights, c.age, c.separation, c.count), s.Train(c.age, c.separation, c.count)
		width := new(big.Float).Sub(got.Hi, got.Lo)
		if want.Cmp(got.Lo) < 0 || want.Cmp(got.Hi) > 0 || width.MantExp(nil)-want.MantExp(nil) > -120 {
			t.Errorf("%+v: [%g, %g], want %g", c, got.Lo, got.Hi, want)
		}
	}
}
