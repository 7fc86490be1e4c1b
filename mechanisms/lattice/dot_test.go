package lattice

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"math"
	"math/big"
	"os"
	"strings"
	"testing"
)

// dot is the slow reference model of Dot: the same order of additions, without optimisation.
func dot(a, b []float64) float64 {
	var s [4]float64
	for i := range a {
		s[i%4] += float64(a[i] * b[i])
	}
	return float64(s[0]+s[1]) + float64(s[2]+s[3])
}

func TestDotKeepsItsOrder(t *testing.T) {
	r := source(t, 8)
	for n := range 70 {
		a, b := wild(r, n, 0, 60), wild(r, n, 0, 60)
		if got, want := Dot(a, b), dot(a, b); math.Float64bits(got) != math.Float64bits(want) {
			t.Errorf("n = %d: Dot = %x, want %x", n, got, want)
		}
		if got, want := Norm(a), math.Sqrt(dot(a, a)); math.Float64bits(got) != math.Float64bits(want) {
			t.Errorf("n = %d: Norm = %x, want %x", n, got, want)
		}
	}
}

func TestNormSurvivesTheWholeRange(t *testing.T) {
	r := source(t, 9)
	for centre := -1074; centre <= 1020; centre += 7 {
		v := wild(r, 1+r.IntN(9), centre, 3)
		sum := new(big.Float).SetPrec(4000)
		for _, x := range v {
			sum.Add(sum, new(big.Float).SetPrec(4000).Mul(big.NewFloat(x), big.NewFloat(x)))
		}
		want, _ := sum.Sqrt(sum).Float64()
		if got := Norm(v); math.Abs(got-want) > 4e-16*want+math.SmallestNonzeroFloat64 {
			t.Errorf("Norm(%g) = %g, want %g", v, got, want)
		}
	}
	f := func(want float64, v ...float64) {
		t.Helper()
		if got := Norm(v); got != want && !(math.IsNaN(got) && math.IsNaN(want)) {
			t.Errorf("Norm(%g) = %g, want %g", v, got, want)
		}
	}
	f(0)
	f(0, 0, math.Copysign(0, -1))
	f(0x5p600, 0x3p600, 0x4p600)
	f(math.SmallestNonzeroFloat64, math.SmallestNonzeroFloat64)
	f(math.Inf(1), math.MaxFloat64, math.MaxFloat64)
	f(math.MaxFloat64, math.MaxFloat64)
	f(math.Inf(1), math.NaN(), math.Inf(-1))
	f(math.NaN(), 1, math.NaN())
}

// golden hashes results of Dot and Norm on fixed inputs; every build and CPU must give the same hash. Inputs are made
// from integers, not by math functions, which differ between CPUs.
func golden() string {
	h := sha256.New()
	state := uint64(1)
	next := func() uint64 { // the xorshift64 generator
		state ^= state << 13
		state ^= state >> 7
		state ^= state << 17
		return state
	}
	var word []byte
	for range 2000 {
		n := int(next()%40) + 1
		v, w, contribution := make([]float64, n), make([]float64, n), make([]int64, n)
		for i := range v {
			v[i] = float64(int64(next())>>(next()%60)) * 0x1p-60
			w[i] = float64(int64(next())) * 0x1p-63
		}
		g, err := NewGrid(float64(next()>>11) * 0x1p-52)
		if err != nil {
			panic("BUG: lattice: golden clip out of range")
		}
		g.Quantise(contribution, v)
		sum := Int128{Hi: int64(next()) >> (next() % 64), Lo: next()}
		for _, x := range contribution {
			sum = sum.AddInt64(x)
			word = binary.LittleEndian.AppendUint64(word, uint64(x))
		}
		for _, x := range []float64{Dot(v, w), Norm(v), g.Float64(sum)} {
			word = binary.LittleEndian.AppendUint64(word, math.Float64bits(x))
		}
	}
	h.Write(word)
	return hex.EncodeToString(h.Sum(nil))
}

func TestGoldenBytes(t *testing.T) {
	want, err := os.ReadFile("testdata/golden.sha256")
	if err != nil {
		t.Fatal(err)
	}
	if got := golden(); got != strings.TrimSpace(string(want)) {
		t.Errorf("golden hash %s, want %s", got, want)
	}
}
