package lattice

import (
	"encoding/binary"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

func source(t testing.TB, seed uint64) *rand.Rand {
	t.Helper()
	t.Logf("seed %d", seed)
	return rand.New(rand.NewPCG(seed, 0))
}

func mustGrid(t testing.TB, clip float64) Grid {
	t.Helper()
	g, err := NewGrid(clip)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// wild returns a vector of n entries whose magnitudes cover spread binary exponents around 2^centre.
func wild(r *rand.Rand, n, centre, spread int) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = math.Ldexp(r.NormFloat64(), centre-r.IntN(spread+1))
	}
	return v
}

func TestGridHoldsTheFloorOfTheClip(t *testing.T) {
	r := source(t, 1)
	clips := []float64{
		1, 0.1, 5, math.Pi, 1 << 25, math.Nextafter(1, 0), math.Nextafter(2, 0), math.Ldexp(1, -512), math.Ldexp(1, 512),
	}
	for range 2000 {
		clips = append(clips, math.Ldexp(1+r.Float64(), r.IntN(1023)-512))
	}
	for _, clip := range clips {
		g := mustGrid(t, clip)
		q := new(big.Rat).SetFloat64(math.Ldexp(1, g.Exp))
		ratio := new(big.Rat).Quo(new(big.Rat).SetFloat64(clip), q)
		floor := new(big.Int).Quo(ratio.Num(), ratio.Denom())
		if !floor.IsInt64() || floor.Int64() != g.Lambda || g.Lambda < 1<<24 || g.Lambda >= 1<<25 {
			t.Errorf("NewGrid(%g) = %+v, want Lambda %v", clip, g, floor)
		}
		if err := g.Validate(); err != nil || g.Clip() > clip || g.Unit() != math.Ldexp(1, g.Exp) {
			t.Errorf("NewGrid(%g) = %+v: %v", clip, g, err)
		}
	}
}

func TestGridRefusesClipsOutsideItsRange(t *testing.T) {
	for _, clip := range []float64{
		0, -1, math.NaN(), math.Inf(1), math.Nextafter(math.Ldexp(1, 512), math.Inf(1)),
		math.Nextafter(math.Ldexp(1, -512), 0),
	} {
		if _, err := NewGrid(clip); err == nil {
			t.Errorf("NewGrid(%g) succeeds", clip)
		}
	}
	for _, g := range []Grid{
		{},
		{Exp: -24, Lambda: 1<<24 - 1},
		{Exp: -24, Lambda: 1 << 25},
		{Exp: -537, Lambda: 1 << 24},
		{Exp: 489, Lambda: 1 << 24},
		{Exp: 488, Lambda: 1<<24 + 1},
	} {
		if g.Validate() == nil {
			t.Errorf("%+v is valid", g)
		}
	}
}

// contains is the slow reference model of Contains.
func contains(g Grid, contribution []int64) bool {
	sum := new(big.Int)
	for _, x := range contribution {
		sum.Add(sum, new(big.Int).Mul(big.NewInt(x), big.NewInt(x)))
	}
	return sum.Cmp(new(big.Int).Mul(big.NewInt(g.Lambda), big.NewInt(g.Lambda))) <= 0
}

func TestContainsIsExact(t *testing.T) {
	g := Grid{Exp: -24, Lambda: 1<<24 + 12345}
	l := g.Lambda
	f := func(contribution ...int64) {
		t.Helper()
		if got, want := g.Contains(contribution), contains(g, contribution); got != want {
			t.Errorf("Contains(%d) = %v, want %v", contribution, got, want)
		}
		length := SquaredLength(contribution) // exact wherever Contains is true
		for _, most := range []Int128{{}, {Lo: 5}, Square(l - 1), length.AddInt64(-1), length, Square(2 * l)} {
			if got, want := g.ContainsUpTo(contribution, most), contains(g, contribution) && !most.Less(length); got != want {
				t.Errorf("ContainsUpTo(%d, %v) = %v, want %v", contribution, most, got, want)
			}
		}
	}
	f()
	f(l)
	f(-l)
	f(l + 1)
	f(-l-1, 0)
	f(l, 1)
	f(0, -l, 0, 1)
	f(math.MinInt64)
	f(math.MaxInt64, math.MinInt64)
	f(1<<32, 1<<32)                                               // in 64 bits the squares would wrap to zero
	f(math.MinInt64, math.MinInt64, math.MinInt64, math.MinInt64) // in 128 bits the sum of squares would wrap to zero
	r := source(t, 2)
	for range 2000 {
		a := r.Int64N(l)
		b := int64(math.Sqrt(float64(l)*float64(l) - float64(a)*float64(a)))
		f(a, b+r.Int64N(5)-2)
	}
	full := make([]int64, 1<<20)
	for i := range full {
		full[i] = l
	}
	f(full...)
}

// TestQuantiseIsNearestOrClipped checks that a vector inside the clip is rounded coordinate by coordinate to the
// nearest even, exactly. A vector outside is scaled to the clip, up to half a unit of rounding, the shrinking of the
// radius and floating-point error.
func TestQuantiseIsNearestOrClipped(t *testing.T) {
	r := source(t, 3)
	for range 4000 {
		clip := math.Ldexp(1+r.Float64(), r.IntN(100)-50)
		g := mustGrid(t, clip)
		v := wild(r, 1+r.IntN(40), g.Exp+20+r.IntN(8), 1+r.IntN(40))
		dst := make([]int64, len(v))
		g.Quantise(dst, v)
		if !contains(g, dst) {
			t.Fatalf("Quantise(%v) on %+v leaves the ball", v, g)
		}
		norm := new(big.Float).SetPrec(300)
		units := make([]*big.Float, len(v))
		for i, x := range v {
			units[i] = new(big.Float).SetPrec(300).SetMantExp(big.NewFloat(x), -g.Exp)
			norm.Add(norm, new(big.Float).SetPrec(300).Mul(units[i], units[i]))
		}
		norm.Sqrt(norm)
		length, _ := norm.Float64()
		inside := length < float64(g.Lambda)-math.Sqrt(float64(len(v)))
		for i := range v {
			want, _ := units[i].Float64()
			if length > float64(g.Lambda) {
				want *= float64(g.Lambda) / length
			}
			switch {
			case inside && dst[i] != int64(math.RoundToEven(want)):
				t.Fatalf("entry %g becomes %d", want, dst[i])
			case math.Abs(float64(dst[i])-want) > 1.6+math.Sqrt(float64(len(v))):
				t.Fatalf("entry %g becomes %d, too far, norm %g", want, dst[i], length)
			}
		}
	}
}

func TestQuantiseEdges(t *testing.T) {
	g := mustGrid(t, 1)
	inf, nan, tiny := math.Inf(1), math.NaN(), math.SmallestNonzeroFloat64
	f := func(v, want []float64) {
		t.Helper()
		dst := make([]int64, len(v))
		for i := range dst {
			dst[i] = 77
		}
		g.Quantise(dst, v)
		for i := range want {
			if dst[i] != int64(want[i]) {
				t.Errorf("Quantise(%g) = %d, want %g", v, dst, want)
				return
			}
		}
	}
	const l = 1 << 24
	f(nil, nil)
	f([]float64{nan, 1}, []float64{0, 0})
	f([]float64{1, inf}, []float64{0, 0})
	f([]float64{-inf, nan}, []float64{0, 0})
	f([]float64{0, math.Copysign(0, -1)}, []float64{0, 0})
	f([]float64{1, 0}, []float64{l, 0})
	f([]float64{0, -1}, []float64{0, -l})
	f([]float64{-17}, []float64{-l})
	f([]float64{math.MaxFloat64}, []float64{l})
	f([]float64{-math.MaxFloat64, tiny, 0}, []float64{-l, 0, 0})
	f([]float64{tiny, -tiny}, []float64{0, 0})
	f([]float64{0x1p-1022, 0x1p-1000}, []float64{0, 0})
	f([]float64{0x1p-25, 0x1.8p-24, 0x2.8p-24, -0x1p-25, 0x1.0000001p-25}, []float64{0, 2, 2, 0, 1}) // ties to even
	f([]float64{0x1p-26, 0x1.fffffp-26}, []float64{0, 0})
	f([]float64{1e308, 1e308, 1e308, 1e308}, []float64{l / 2, l / 2, l / 2, l / 2})
	f([]float64{0x1p500, 0x1p500, -0x1p500, 0x1p500}, []float64{l / 2, l / 2, -l / 2, l / 2})
}

// TestQuantiseIsEquivariant checks that scaling vector and clip by the same power of two changes no integer, and that
// changing signs changes no magnitude.
func TestQuantiseIsEquivariant(t *testing.T) {
	r := source(t, 4)
	for range 2000 {
		v := wild(r, 1+r.IntN(10), r.IntN(6)-3, 30)
		k := r.IntN(900) - 450
		scaled, negated := make([]float64, len(v)), make([]float64, len(v))
		for i, x := range v {
			scaled[i], negated[i] = math.Ldexp(x, k), -x
		}
		a, b, c := make([]int64, len(v)), make([]int64, len(v)), make([]int64, len(v))
		mustGrid(t, 1.25).Quantise(a, v)
		mustGrid(t, math.Ldexp(1.25, k)).Quantise(b, scaled)
		mustGrid(t, 1.25).Quantise(c, negated)
		for i := range v {
			if a[i] != b[i] || a[i] != -c[i] {
				t.Fatalf("Quantise(%v) = %d, scaled %d, negated %d", v, a, b, c)
			}
		}
	}
}

func FuzzQuantise(f *testing.F) {
	f.Add([]byte("0123456789abcdef"), uint64(0x3ff0000000000000))
	f.Add(binary.LittleEndian.AppendUint64(nil, math.Float64bits(1e308)), math.Float64bits(1e-100))
	f.Fuzz(func(t *testing.T, raw []byte, clip uint64) {
		g, err := NewGrid(math.Float64frombits(clip))
		if err != nil {
			return
		}
		v := make([]float64, len(raw)/8)
		finite := true
		for i := range v {
			v[i] = math.Float64frombits(binary.LittleEndian.Uint64(raw[8*i:]))
			finite = finite && !math.IsNaN(v[i]) && !math.IsInf(v[i], 0)
		}
		dst := make([]int64, len(v))
		g.Quantise(dst, v)
		if !contains(g, dst) {
			t.Fatalf("Quantise(%v) on %+v = %d leaves the ball", v, g, dst)
		}
		for i, n := range dst {
			if !finite && n != 0 || n != 0 && (n < 0) != (v[i] < 0) {
				t.Fatalf("Quantise(%v) on %+v = %d", v, g, dst)
			}
		}
	})
}
