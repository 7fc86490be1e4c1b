package text

import (
	"errors"
	"math"
	"math/big"
	"strings"
	"testing"
)

// TestNumbersOfPeople checks that texts are read as the number that they say, or refused. Users saw a panic where a
// range ended at inf.
func TestNumbersOfPeople(t *testing.T) {
	for text, want := range map[string]float64{
		"0": 0, "-0": 0, "-0.0e5": 0, " 1.5 ": 1.5, "+2": 2, "1e-6": 1e-6, "1E+3": 1000, ".5": 0.5, "5.": 5, "007": 7,
		"1.7976931348623157e308": math.MaxFloat64, "5e-324": 5e-324, strings.Repeat("0", 400) + "3": 3,
		"0." + strings.Repeat("3", 400): 1. / 3, "1" + strings.Repeat("0", 400) + "e-400": 1,
	} {
		if x, err := ParseNumber(text); err != nil || x != want || math.Signbit(x) != (want < 0) {
			t.Errorf("%q is read as %v, %v, want %v", text, x, err, want)
		}
	}
	for text, want := range map[string]error{
		"": errNoNumber, " ": errNoNumber, "nan": errNoNumber, "NaN": errNoNumber, "inf": errNoNumber, "-Inf": errNoNumber,
		"infinity": errNoNumber, "0x10": errNoNumber, "0x1p-2": errNoNumber, "1_000": errNoNumber, "1,5": errNoNumber,
		"1e": errNoNumber, "e5": errNoNumber, "--1": errNoNumber, "1 2": errNoNumber, "１": errNoNumber, "1e5e5": errNoNumber,
		"1e400": errLarge, "-1e400": errLarge, strings.Repeat("9", 400): errLarge, "1e-400": errSmall,
		"0." + strings.Repeat("0", 400) + "1": errSmall,
	} {
		if x, err := ParseNumber(text); !errors.Is(err, want) {
			t.Errorf("%q is read as %v, %v, want %v", text, x, err, want)
		}
	}
	for text, want := range map[string]uint64{
		"0": 0, " 12 ": 12, "+3": 3, "010": 10, "18446744073709551615": math.MaxUint64,
	} {
		if n, err := ParseCount(text); err != nil || n != want {
			t.Errorf("%q is read as %d, %v, want %d", text, n, err, want)
		}
	}
	for text, want := range map[string]error{
		"": errNoCount, "-1": errNoCount, "-0": errNoCount, "++1": errNoCount, "1.0": errNoCount, "1e3": errNoCount,
		"0x10": errNoCount, "1_0": errNoCount, "18446744073709551616": errManyMore, strings.Repeat("9", 400): errManyMore,
	} {
		if n, err := ParseCount(text); !errors.Is(err, want) {
			t.Errorf("%q is read as %d, %v, want %v", text, n, err, want)
		}
	}
	if n, err := ParseInt("9223372036854775808"); !errors.Is(err, errManyMore) {
		t.Errorf("2^63 is read as %d, %v", n, err)
	}
}

// FuzzNumbers compares ParseNumber with arithmetic of 2 000 bits. A number must be the nearest float64 to the text, and
// must be refused if that float64 is infinite, or is 0 although the text is not.
func FuzzNumbers(f *testing.F) {
	for _, text := range []string{"1e400", "-0", "0x1p3", "1_0", "nan", " 7", "1e-330", "00.10e+01", "9e999999999"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		x, err := ParseNumber(text)
		if math.IsNaN(x) || math.IsInf(x, 0) || x == 0 && math.Signbit(x) {
			t.Fatalf("%q is read as %v", text, x)
		}
		text = strings.TrimSpace(text)
		at := strings.LastIndexAny(text, "eE")
		if len(text) > 600 || strings.Contains(text, "_") || at >= 0 && len(text)-at > 6 {
			return // big.ParseFloat takes underscores, and hours for large exponents
		}
		exact, _, wrong := big.ParseFloat(text, 10, 2000, big.ToNearestEven)
		if wrong != nil || exact.IsInf() {
			if err == nil {
				t.Fatalf("%q is read as %v", text, x)
			}
			return
		}
		want, _ := exact.Float64()
		refused := math.IsInf(want, 0) || want == 0 && exact.Sign() != 0
		if refused != (err != nil) || !refused && x != want {
			t.Fatalf("%q is read as %v, %v; it is %v", text, x, err, want)
		}
	})
}
