package noise

import (
	"math"
	"math/big"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// next returns the next word of a keystream.
func next(k *keystream) uint64 {
	var word [1]int64
	k.read(word[:])
	return uint64(word[0])
}

// TestVectorsAndSingleWordsAgree checks that Fill makes each draw only from the word at its position and the extension
// of this word.
func TestVectorsAndSingleWordsAgree(t *testing.T) {
	// At this scale one draw in a thousand is in doubt and needs extension words.
	for _, law := range []string{"gaussian", "laplace", "discrete"} {
		a := answer{law: law, scale: Scale{Mant: 3, Exp: 44}}
		for _, n := range []int{0, 1, 31, 127, 128, 129, 1500} {
			seed := Seed{byte(n), 7}
			got := make([]int64, n)
			newSampler(t, law, a.scale, n).Fill(got, seed)
			var k keystream
			k.open(seed)
			draw := a.sampler(t)
			for i := range got {
				word := next(&k)
				if want := draw.one(word, k.extension(uint32(i))); got[i] != want {
					t.Fatalf("%s n=%d: coordinate %d is %d, alone %d", law, n, i, got[i], want)
				}
			}
		}
	}
}

// TestSlowPathGivesTheVectors forces the slow path for every entry.
func TestSlowPathGivesTheVectors(t *testing.T) {
	const n = 150
	for _, exp := range []int{-3, 10, 29, 45} {
		for _, law := range []string{"gaussian", "laplace", "discrete"} {
			a := answer{law: law, scale: Scale{Mant: 5, Exp: exp}}
			seed := Seed{byte(exp), 8}
			fast := make([]int64, n)
			newSampler(t, law, a.scale, n).Fill(fast, seed)
			var k keystream
			k.open(seed)
			draw := a.sampler(t)
			for i := range fast {
				word := next(&k)
				if slow := draw.slow(word, k.extension(uint32(i))); slow != fast[i] {
					t.Errorf("%s s=5·2^%d: entry %d is %d, slowly %d", law, exp, i, fast[i], slow)
				}
			}
		}
	}
	for _, n := range []int{1, 2, 3, 33, chunkWords, 200} {
		for _, s := range []Scale{{Mant: 3, Exp: -20}, {Mant: 3, Exp: 25}, {Mant: 1<<39 - 1, Exp: 0}} {
			seed := Seed{byte(n), 9, byte(s.Mant)}
			fast := make([]int64, n)
			newSampler(t, "gamma", s, n).Fill(fast, seed)
			slow := newSlowGamma(s, n, seed)
			var k keystream
			k.open(seed)
			for range n + 1 {
				next(&k)
			}
			for i := range fast {
				if v := slow.decide(next(&k), i); v != fast[i] {
					t.Errorf("gamma s=%v n=%d: entry %d is %d, slowly %d", s, n, i, fast[i], v)
				}
			}
		}
	}
}

// TestGammaDirectionIsExtendedAtItsOwnPosition uses the word 0, which does not determine its draw. The draw must depend
// on the extension of its own position n+1+i, after the words of the radius.
func TestGammaDirectionIsExtendedAtItsOwnPosition(t *testing.T) {
	const n, i = 3, 1
	s, seed := Scale{Mant: 1, Exp: 40}, Seed{5}
	slow := newSlowGamma(s, n, seed)
	got := float64(slow.decide(0, i))
	var k keystream
	k.open(seed)
	direction := float64(gaussianCurve.decide(newDigits(0, k.extension(n+1+i)), s, nil))
	radius, _ := new(big.Float).SetMantExp(new(big.Float).SetInt(slow.chi.lo), -int(slow.chi.p)).Float64()
	if want := radius * direction; math.Abs(got-want) > 1e-9*math.Abs(want) {
		t.Errorf("drawn %g, want %g", got, want)
	}
}

// TestKeystreamIsExtendedUnderItsOwnSeed checks that a keystream that is opened again extends words under its new
// seed, not under the previous one.
func TestKeystreamIsExtendedUnderItsOwnSeed(t *testing.T) {
	var again, fresh keystream
	again.open(Seed{1})
	_ = again.extension(0)()
	again.open(Seed{2})
	fresh.open(Seed{2})
	if got, want := again.extension(0)(), fresh.extension(0)(); got != want {
		t.Errorf("extended by %x, want %x", got, want)
	}
}

// TestGammaRadiusHoldsTheExactOne checks that θ·χ lies within the slack of the factor, for words of any size.
func TestGammaRadiusHoldsTheExactOne(t *testing.T) {
	for n := 1; n <= 65; n += 4 {
		for k := range byte(6) {
			seed := Seed{k, byte(n), 77}
			s := Scale{Mant: 0x9E3779B97F4A7C15 >> (7 * k), Exp: -24}
			g, err := NewGamma(s, n)
			if err != nil {
				t.Fatal(err)
			}
			g.keys.open(seed)
			f := g.radius()
			if f == (factor{}) {
				t.Fatalf("n=%d: no radius", n)
			}
			slow := newSlowGamma(s, n, seed)
			slow.refine(128)
			for _, end := range []*big.Int{slow.chi.lo, slow.chi.hi} {
				// θ·χ = mant·2^(frac−64−shift), the mantissa is exact within slack − 2, because 2 units are for the
				// product with x.
				exact := new(big.Float).SetPrec(300).SetInt(new(big.Int).Mul(end, slow.factor))
				exact.SetMantExp(exact, s.Exp-int(slow.chi.p)+64+int(f.shift)-gaussianCurve.frac)
				exact.Sub(exact, new(big.Float).SetPrec(300).SetUint64(f.mant))
				if e, _ := exact.Float64(); math.Abs(e) > float64(f.slack-2) || f.slack > 1<<16 {
					t.Errorf("n=%d: radius off by %g, slack %d", n, e, f.slack)
				}
			}
		}
	}
}

// TestFactorHoldsTheProduct checks that floor(x·mant/2^64) is x·s·2^shift within the slack of the factor. round must
// return a result exactly if x·s rounds to the same integer for all products within both slacks.
func TestFactorHoldsTheProduct(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for range 20000 {
		s := Scale{Mant: r.Uint64() | 1<<63, Exp: r.IntN(maxScaleLog-minScaleLog) + minScaleLog - 63}
		draw, err := newPerWord(&gaussianCurve, s)
		if err != nil {
			t.Fatal(err)
		}
		f, x := draw.factor, r.Uint64N(3<<62)
		exact := new(big.Float).SetPrec(300).SetUint64(x)
		exact.Mul(exact, new(big.Float).SetUint64(s.Mant))
		exact.SetMantExp(exact, s.Exp-gaussianCurve.frac+int(f.shift))
		y, _ := bits.Mul64(x, f.mant)
		off := new(big.Float).Sub(exact, new(big.Float).SetPrec(300).SetUint64(y))
		if e, _ := off.Float64(); math.Abs(e) >= float64(f.slack) {
			t.Fatalf("s=%v x=%d: product is %g off, slack %d", s, x, e, f.slack)
		}
		slack := r.Uint64N(1 << r.IntN(63))
		nearest := func(off *big.Int) *big.Int { // rounds (y + off)·2^-shift to the nearest integer
			off.Add(off, new(big.Int).SetUint64(y))
			off.Add(off, new(big.Int).Lsh(big.NewInt(1), f.shift-1))
			return off.Rsh(off, f.shift)
		}
		reach := new(big.Int).SetUint64(slack + f.slack)
		low := nearest(new(big.Int).Neg(reach))
		high := nearest(reach)
		n, ok := f.round(x, slack)
		if ok != (low.Cmp(high) == 0) || ok && n != low.Int64() {
			t.Fatalf("s=%v x=%d slack=%d: %d, %t; want %v to %v", s, x, slack, n, ok, low, high)
		}
	}
}

// TestTailWordsAreEnclosed checks that words beyond the table contribute to the radius with an error bound, like other
// words.
func TestTailWordsAreEnclosed(t *testing.T) {
	for _, word := range []uint64{1<<39 - 1, 1 << 30, 1 << 17, ^uint64(1 << 17)} {
		d := newDigits(word, func() uint64 { return 1 << 63 })
		x, slack, ok := gaussianCurve.beyondTable(d)
		exact := gaussianCurve.enclose(d, interval{})
		up := exact.p - uint(gaussianCurve.frac)
		low, high := new(big.Int).SetUint64(x), new(big.Int).SetUint64(x+slack)
		if !ok || slack > 2 || low.Lsh(low, up).Cmp(exact.lo) > 0 || high.Lsh(high, up).Cmp(exact.hi) < 0 {
			t.Errorf("word %x: x = %d±%d, %t; want %d to %d, shifted by %d", word, x, slack, ok, exact.lo, exact.hi, up)
		}
	}
	if _, _, ok := gaussianCurve.beyondTable(newDigits(1, func() uint64 { return 0 })); ok {
		t.Error("x above 8 has no such form")
	}
}

// TestSquaresAreSums compares the sums of squares and of their errors with integer sums.
func TestSquaresAreSums(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	var s squares
	sum, off := new(big.Int), new(big.Int)
	for range 1000 {
		y, slack := r.Uint64()>>1|1<<62, r.Uint64N(1<<20)
		s.add(y, slack)
		square, size := new(big.Int).SetUint64(y), new(big.Int).SetUint64(y+slack)
		sum.Add(sum, square.Mul(square, square))
		off.Add(off, size.Mul(size, new(big.Int).SetUint64(slack)))
	}
	whole := func(words []uint64) *big.Int {
		x := new(big.Int)
		for _, w := range slices.Backward(words) {
			x.Or(x.Lsh(x, 64), new(big.Int).SetUint64(w))
		}
		return x
	}
	if got := whole(s.sum[:]); got.Cmp(sum) != 0 {
		t.Errorf("squares add up to %d, want %d", got, sum)
	}
	if got := whole(s.off[:]); got.Cmp(off) != 0 {
		t.Errorf("errors add up to %d, want %d", got, off)
	}
}

func TestSqrt128(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	top := uint64(math.MaxUint64)
	cases := [][2]uint64{
		{1 << 62, 0},
		{1 << 62, 1},
		{top, top},
		{top, 0},
		{top - 1, 0},
		{top - 1, 1},
		{top - 2, top},
		{1 << 63, 0},
	}
	for range 2000 {
		cases = append(cases, [2]uint64{r.Uint64() | 1<<62, r.Uint64()})
		root := new(big.Int).SetUint64(r.Uint64() | 1<<63)
		square := new(big.Int).Mul(root, root)
		square.Sub(square, big.NewInt(int64(r.IntN(3)-1)))
		cases = append(cases, [2]uint64{
			new(big.Int).Rsh(square, 64).Uint64(),
			new(big.Int).And(square, new(big.Int).SetUint64(top)).Uint64(),
		})
	}
	for _, c := range cases {
		if c[0] < 1<<62 {
			continue
		}
		x := new(big.Int).SetUint64(c[0])
		x.Lsh(x, 64)
		x.Or(x, new(big.Int).SetUint64(c[1]))
		if want := x.Sqrt(x).Uint64(); sqrt128(c[0], c[1]) != want {
			t.Errorf("sqrt128(%x, %x) = %x, want %x", c[0], c[1], sqrt128(c[0], c[1]), want)
		}
	}
}

// TestFillAllocatesOnlyTheCipher checks that Fill allocates only what starting a keystream allocates.
func TestFillAllocatesOnlyTheCipher(t *testing.T) {
	var k keystream
	cipher := testing.AllocsPerRun(100, func() { k.open(Seed{}) })
	for _, law := range []string{"gaussian", "laplace", "discrete", "gamma"} {
		for _, n := range []int{32, 1000} {
			s := newSampler(t, law, Scale{Mant: 1, Exp: 20}, n)
			dst := make([]int64, n)
			if allocs := testing.AllocsPerRun(100, func() { s.Fill(dst, Seed{1}) }); allocs > cipher {
				t.Errorf("%s n=%d: Fill allocates %v times, the cipher %v", law, n, allocs, cipher)
			}
		}
	}
}

func TestScales(t *testing.T) {
	for _, x := range []float64{
		1, 0.1, 3, 1 << 40, math.Pi * 1e9, math.SmallestNonzeroFloat64, math.MaxFloat64,
		0x1p-1022,
	} {
		s := ScaleUp(x)
		if s.Mant%2 != 1 || s.Float64() != x {
			t.Errorf("ScaleUp(%g) = %v", x, s)
		}
	}
	for _, x := range []float64{0, -1, math.NaN(), math.Inf(1), math.Inf(-1)} {
		if s := ScaleUp(x); s != (Scale{}) {
			t.Errorf("ScaleUp(%g) = %v, want none", x, s)
		}
	}
	if got := (Scale{Mant: 1<<60 + 1, Exp: -60}).Float64(); got != math.Nextafter(1, 2) {
		t.Errorf("Float64 rounds to %g", got)
	}
	for _, s := range []Scale{
		{},
		{Mant: 1, Exp: 50},
		{Mant: 3, Exp: 49},
		{Mant: 1, Exp: -33},
		{Mant: 1, Exp: math.MaxInt},
		{Mant: 1, Exp: math.MinInt},
	} {
		if _, err := NewGaussian(s); err == nil || !strings.HasPrefix(err.Error(), "noise: scale:") {
			t.Errorf("NewGaussian(%v): %v", s, err)
		}
		if _, err := NewLaplace(s); err == nil {
			t.Errorf("NewLaplace(%v) has no error", s)
		}
		if _, err := NewDiscreteLaplace(s, []int64{1}); err == nil {
			t.Errorf("NewDiscreteLaplace(%v) has no error", s)
		}
		if _, err := NewGamma(s, 1); err == nil {
			t.Errorf("NewGamma(%v) has no error", s)
		}
	}
	for _, n := range []int{0, -1, 1 << 30} {
		if _, err := NewGamma(Scale{Mant: 1}, n); err == nil {
			t.Errorf("NewGamma with %d entries has no error", n)
		}
	}
	if _, err := NewGamma(Scale{Mant: 1, Exp: 40}, 1<<12); err == nil {
		t.Error("NewGamma takes a scale that may leave int64")
	}
	// The same number, written in three ways.
	var draws [3][]int64
	for i, s := range []Scale{{Mant: 5, Exp: 20}, {Mant: 5 << 20}, {Mant: 5 << 60, Exp: -40}} {
		draws[i] = make([]int64, 300)
		newSampler(t, "gaussian", s, 0).Fill(draws[i], Seed{4})
	}
	if !slices.Equal(draws[0], draws[1]) || !slices.Equal(draws[0], draws[2]) {
		t.Error("equal scales draw unequally")
	}
}

// TestKeystreamOfZerosStops checks that a keystream of zeros, which no extension decides, panics as a bug instead of
// giving a draw.
func TestKeystreamOfZerosStops(t *testing.T) {
	defer func() {
		if text, _ := recover().(string); !strings.HasPrefix(text, "BUG: noise:") {
			t.Errorf("panic %q", text)
		}
	}()
	answer{law: "gaussian", scale: Scale{Mant: 1}}.sampler(t).one(0, func() uint64 { return 0 })
}

// FuzzFastPathMatchesSlowPath checks that the table path and the big-integer path give the same draw.
func FuzzFastPathMatchesSlowPath(f *testing.F) {
	f.Add(uint64(0), uint64(1), uint64(1), 29, false)
	f.Add(uint64(1<<63), uint64(0), uint64(0xFFFFFFFFFFFFFFFF), -14, true)
	f.Add(uint64(1<<40-1), uint64(1<<63), uint64(3), 47, false)
	f.Fuzz(func(t *testing.T, word, first, mant uint64, exp int, laplace bool) {
		a := answer{law: "gaussian", scale: Scale{Mant: mant, Exp: exp}, words: []uint64{word, first}}
		if a.scale.check() != nil {
			t.Skip()
		}
		laws := []string{"gaussian"}
		if laplace {
			laws = []string{"laplace", "discrete"}
		}
		for _, a.law = range laws {
			draw := a.sampler(t)
			fast, slow := draw.one(word, a.extend()), draw.slow(word, a.extend())
			if fast != slow {
				t.Errorf("%v: fast %d, slow %d", a, fast, slow)
			}
		}
	})
}
