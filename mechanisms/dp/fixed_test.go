package dp

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// drawn returns a random number below 2^bits units in the last place, and the same as an integer.
func drawn(rng *rand.Rand, bits int) (fixed, *big.Int) {
	n := new(big.Int)
	for range 4 {
		n.Lsh(n, 64).Or(n, new(big.Int).SetUint64(rng.Uint64()))
	}
	n.Rsh(n, uint(256-bits))
	return toFixed(new(big.Float).SetPrec(256).SetInt(n), 0), n
}

// units returns x in units in the last place.
func units(x fixed) *big.Int {
	n := new(big.Int)
	for i := 3; i >= 0; i-- {
		n.Lsh(n, 64).Or(n, new(big.Int).SetUint64(x[i]))
	}
	return n
}

// TestFixedIsArithmeticOfIntegers compares each operation with the same one of math/big, also for words of zeros and of
// ones.
func TestFixedIsArithmeticOfIntegers(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 2000 {
		// conversions have 192 bits, so that wider numbers are put together from words
		var x, y fixed
		for i := range x {
			x[i], y[i] = word(rng), word(rng)
		}
		a, b := units(x), units(y)
		f := func(what string, got fixed, want *big.Int) {
			t.Helper()
			if units(got).Cmp(want) != 0 {
				t.Fatalf("%s of %x, %x: %x, want %x", what, a, b, units(got), want)
			}
		}
		z := x
		z.scale(&y)
		f("product", z, new(big.Int).Rsh(new(big.Int).Mul(a, b), 256))
		d := 1 + rng.Uint64()>>rng.IntN(63)
		z = x
		z.divide(d)
		f("quotient", z, new(big.Int).Quo(a, new(big.Int).SetUint64(d)))
		if a.Cmp(b) >= 0 {
			f("difference", x.plus(&y, true), new(big.Int).Sub(a, b))
		}
		x[3], y[3] = x[3]>>1, y[3]>>1
		a, b = units(x), units(y)
		f("sum", x.plus(&y, false), new(big.Int).Add(a, b))
		n := uint(1 + rng.IntN(63))
		x[3] >>= n
		a = units(x)
		z = x
		z.double(n)
		f("multiple", z, new(big.Int).Lsh(a, n))
	}
	for _, bits := range []int{1, 63, 64, 65, 191, 192} {
		x, n := drawn(rng, bits)
		if units(x).Cmp(n) != 0 {
			t.Errorf("%x is converted to %x", n, units(x))
		}
		back := new(big.Float).SetMantExp(x.float(), fixedBits)
		if back.Cmp(new(big.Float).SetPrec(256).SetInt(n)) != 0 {
			t.Errorf("%x is converted back to %g", n, back)
		}
	}
}

// word returns a random word, or one of only zeros or ones.
func word(rng *rand.Rand) uint64 {
	switch rng.IntN(4) {
	case 0:
		return 0
	case 1:
		return math.MaxUint64
	}
	return rng.Uint64()
}

// TestNestedIsItsSeries compares nested with the sum of its terms at 512 bits, at the error that its comment derives.
func TestNestedIsItsSeries(t *testing.T) {
	const wide = 512
	odd := func(k int) uint64 { return uint64(2*k + 1) }
	each := func(k int) uint64 { return uint64(k) }
	for _, c := range []struct {
		y float64
		n int
		d func(int) uint64
	}{
		{0, 24, each},
		{0x1p-6, 24, each},
		{-0x1p-6, 24, each},
		{-0.49, 40, each},
		{0x1p-190, 24, each},
		{1e-9, 30, odd},
		{1, 60, odd},
		{12.25, 120, odd},
		{35.99, 200, odd},
	} {
		sum, term := new(big.Float).SetPrec(wide).SetInt64(1), new(big.Float).SetPrec(wide).SetInt64(1)
		for k := 1; k <= c.n; k++ {
			term.Mul(term, new(big.Float).SetPrec(wide).SetFloat64(c.y))
			term.Quo(term, new(big.Float).SetPrec(wide).SetInt(new(big.Int).SetUint64(c.d(k))))
			sum.Add(sum, term)
		}
		got := nested(exact(c.y), c.n, c.d)
		off := new(big.Float).SetPrec(wide).Sub(got, sum)
		off.Quo(off.Abs(off), sum)
		// the error of the series, and the rounding of the result to the precision of conversions
		limit := math.Ldexp(1, 8-fixedBits) + math.Ldexp(1, -precision)
		if x, _ := off.Float64(); x > limit {
			t.Errorf("y = %g, %d terms: off by a relative %g, at most %g is derived", c.y, c.n, x, limit)
		}
	}
}
