package lattice

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// value returns x as a big integer.
func value(x Int128) *big.Int {
	v := new(big.Int).Lsh(big.NewInt(x.Hi), 64)
	return v.Add(v, new(big.Int).SetUint64(x.Lo))
}

// wrap reduces v to the range of Int128.
func wrap(v *big.Int) *big.Int {
	half, full := new(big.Int).Lsh(big.NewInt(1), 127), new(big.Int).Lsh(big.NewInt(1), 128)
	v = new(big.Int).Add(v, half)
	v.Mod(v, full)
	return v.Sub(v, half)
}

func someInt128(r *rand.Rand) Int128 {
	x := Int128{Hi: int64(r.Uint64()), Lo: r.Uint64()}
	switch shift := r.IntN(130); {
	case shift < 64:
		x.Hi >>= shift
	case shift < 128:
		x = Int128{Hi: x.Hi >> 63, Lo: uint64(x.Hi>>63)<<(127-shift) | x.Lo>>(shift-64)}
	}
	if r.IntN(3) == 0 {
		x.Lo &= ^uint64(0) << r.IntN(64) // clears low bits, so that ties occur
	}
	return x
}

func TestInt128ArithmeticIsExact(t *testing.T) {
	r := source(t, 6)
	check := func(got Int128, want *big.Int) {
		t.Helper()
		if value(got).Cmp(wrap(want)) != 0 {
			t.Fatalf("got %v, want %v", value(got), want)
		}
	}
	small := []int64{0, 1, -1, math.MaxInt64, math.MinInt64}
	for i := range 20000 {
		x, y, z := someInt128(r), someInt128(r), int64(r.Uint64())
		if i < 2*len(small) {
			z = small[i/2]
		}
		check(x.Add(y), new(big.Int).Add(value(x), value(y)))
		check(x.AddInt64(z), new(big.Int).Add(value(x), big.NewInt(z)))
		check(x.SubInt64(z), new(big.Int).Sub(value(x), big.NewInt(z)))
		if encoded := x.AppendBinary(nil); len(encoded) != Int128Len || ParseInt128(encoded) != x {
			t.Fatalf("%+v does not survive its encoding", x)
		}
	}
}

// toFloat is the slow reference model of Float64.
func toFloat(g Grid, x Int128) float64 {
	f := new(big.Float).SetPrec(300).SetInt(value(x))
	f.SetMantExp(f, g.Exp)
	got, _ := f.Float64() // rounds to nearest, ties to even
	return got
}

func TestFloat64RoundsOnceTiesToEven(t *testing.T) {
	r := source(t, 7)
	f := func(x Int128) {
		t.Helper()
		g := Grid{Exp: r.IntN(1025) - 536, Lambda: 1 << 24}
		if got, want := g.Float64(x), toFloat(g, x); math.Float64bits(got) != math.Float64bits(want) {
			t.Fatalf("Float64(%v) = %x, want %x", value(x), got, want)
		}
	}
	for _, lo := range []uint64{
		0, 1, 1<<53 - 1, 1 << 53, 1<<53 + 1, 1<<53 + 3, 1<<54 + 2, 1<<54 + 6, math.MaxUint64, math.MaxUint64 - 1023,
		math.MaxUint64 - 1024, 1 << 63,
	} {
		for _, hi := range []int64{0, -1, 1, math.MaxInt64, math.MinInt64, 1 << 52, 1<<53 + 1} {
			f(Int128{Hi: hi, Lo: lo})
		}
	}
	for range 200000 {
		f(someInt128(r))
	}
}

func FuzzFloat64(f *testing.F) {
	f.Add(int64(0), uint64(1<<53+1), -24)
	f.Add(int64(math.MinInt64), uint64(0), 488)
	f.Fuzz(func(t *testing.T, hi int64, lo uint64, exp int) {
		g, x := Grid{Exp: exp, Lambda: 1 << 24}, Int128{Hi: hi, Lo: lo}
		if g.Validate() != nil {
			return
		}
		if got, want := g.Float64(x), toFloat(g, x); math.Float64bits(got) != math.Float64bits(want) {
			t.Fatalf("Float64(%v) = %x, want %x", value(x), got, want)
		}
	})
}
