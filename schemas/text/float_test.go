package text

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"strconv"
	"testing"
)

func checkAppendFloat(t *testing.T, f float64) {
	t.Helper()
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return
	}
	want, err := json.Marshal(f + 0) // −0 + 0 = +0
	if err != nil {
		t.Fatal(err)
	}
	got := string(AppendFloat([]byte("x"), f))
	if got != "x"+string(want) {
		t.Fatalf("%x: %s, encoding/json %s", math.Float64bits(f), got, want)
	}
	back, next, code := ReadNumber([]byte(got), 1, 1)
	if code != OK || next != len(got) || back != f {
		t.Fatalf("%s reads back as %v, %v", got, back, code)
	}
}

func edgeFloats() []float64 {
	edges := []float64{
		0, math.Copysign(0, -1), 1, 0.1, 1e-6, 9.99999e-7, 1e21, 1e20, 999999999999999868928, 1e15, 1e15 - 1, 1e15 + 0.125,
		1e22, 1e23, 5e-324,
		2.2250738585072014e-308, 2.225073858507201e-308, math.MaxFloat64, 1 << 53, 1<<53 + 2, 1 << 62, 1 << 63, 1 << 64, 0.3,
		2.0 / 3, 9007199254740993, 1e-7, 123e-9,
	}
	for e := -1074; e <= 1023; e++ {
		p := math.Ldexp(1, e)
		edges = append(edges, p, math.Nextafter(p, 0), math.Nextafter(p, math.Inf(1)))
	}
	for e := -323; e <= 308; e++ {
		p, err := strconv.ParseFloat("1e"+strconv.Itoa(e), 64)
		if err != nil {
			panic(err)
		}
		edges = append(edges, p, math.Nextafter(p, 0), math.Nextafter(p, math.Inf(1)))
	}
	return edges
}

func TestAppendFloatAgreesWithEncodingJSON(t *testing.T) {
	for _, f := range edgeFloats() {
		checkAppendFloat(t, f)
		checkAppendFloat(t, -f)
	}
	rng := rand.New(rand.NewPCG(5, 6))
	for range 50000 {
		checkAppendFloat(t, math.Float64frombits(rng.Uint64()))
		checkAppendFloat(t, rng.NormFloat64())
		checkAppendFloat(t, float64(rng.IntN(2000)-1000)/8)
		checkAppendFloat(t, math.Ldexp(float64(rng.Uint64()>>11), rng.IntN(140)-100))
		checkAppendFloat(t, float64(rng.IntN(1e6))/float64([]int{10, 100, 1000, 1e6}[rng.IntN(4)]))
	}
}

// TestShortestDecimalOfOrdinaryNumbers compares shortestDecimal's branch-free code with shortestAtEnds, for all numbers
// that the branch-free code handles: all except powers of two and subnormal numbers.
func TestShortestDecimalOfOrdinaryNumbers(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	check := func(f float64) {
		digits, e := shortestDecimal(f)
		want, wantExponent := shortestAtEnds(f)
		for ; wantExponent > e; wantExponent-- {
			want *= 10 // both spellings of a multiple of ten are correct
		}
		if digits != want || e != wantExponent {
			t.Fatalf("%x: %d·10^%d, not %d·10^%d", math.Float64bits(f), digits, e, want, wantExponent)
		}
	}
	for exponent := uint64(1); exponent < 0x7ff; exponent++ {
		for _, c := range []uint64{1, 2, 3, 1<<52 - 2, 1<<52 - 1} {
			check(math.Float64frombits(exponent<<52 | c))
		}
		for range 200 {
			check(math.Float64frombits(exponent<<52 | rng.Uint64()>>12 | 1))
			check(math.Float64frombits(exponent<<52 | rng.Uint64()>>12&^1 | 2))
		}
	}
}

func FuzzAppendFloat(f *testing.F) {
	for _, x := range edgeFloats()[:30] {
		f.Add(x)
	}
	f.Fuzz(checkAppendFloat)
}

// TestParseNumberRoundsCorrectly compares decimals of every length and exponent with strconv, which is exact.
func TestParseNumberRoundsCorrectly(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for range 200000 {
		var text []byte
		if rng.IntN(2) == 0 {
			text = append(text, '-')
		}
		digits := strconv.FormatUint(rng.Uint64()>>rng.IntN(64), 10)
		point := rng.IntN(len(digits) + 1)
		if point == 0 || point > 1 && digits[0] == '0' {
			text = append(append(text, "0."...), digits...)
		} else if text = append(text, digits[:point]...); point < len(digits) {
			text = append(append(text, '.'), digits[point:]...)
		}
		if rng.IntN(2) == 0 {
			text = strconv.AppendInt(append(text, 'e'), int64(rng.IntN(80)-40), 10)
		}
		want, err := strconv.ParseFloat(string(text), 64)
		if err != nil {
			t.Fatal(err)
		}
		got, next, code := ReadNumber(text, 0, 1)
		if code != OK || next != len(text) || math.Float64bits(got) != math.Float64bits(want) {
			t.Fatalf("%s: %v %v, want %v", text, got, code, want)
		}
	}
}

// TestExactDecimalAtHalfWay uses decimals exactly half way between two float64s, and slightly beside.
func TestExactDecimalAtHalfWay(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	for range 20000 {
		m := rng.Uint64()>>11 | 1<<52
		half := 2*m + 1 // odd with 54 bits, so w is a tie
		for k := range 10 {
			w := half
			e := 0
			for range k { // proves w·10^e = half / 2^k exactly
				if w > math.MaxUint64/5 {
					break
				}
				w *= 5
				e--
			}
			for _, v := range []uint64{w - 1, w, w + 1} {
				text := strconv.FormatUint(v, 10) + "e" + strconv.Itoa(e)
				want, err := strconv.ParseFloat(text, 64)
				if err != nil {
					t.Fatal(err)
				}
				if got := exactDecimal(v, e); got != want {
					t.Fatalf("%s: %v, want %v", text, got, want)
				}
			}
		}
	}
}
