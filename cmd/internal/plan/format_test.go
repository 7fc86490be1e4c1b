package plan

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"strconv"
	"testing"
)

func TestUpperNeverShowsLessAndStaysClose(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 100_000 {
		x := random.ExpFloat64() * []float64{1e-9, 1e-3, 1, 1e4, 1e9}[random.IntN(5)]
		shown, err := strconv.ParseFloat(Upper(Number(x)), 64)
		if err != nil || shown < x || shown > x*1.0011 {
			t.Fatalf("Upper(%g) = %s", x, Upper(Number(x)))
		}
	}
}

func TestNumbers(t *testing.T) {
	f := func(x float64, wantDigits, wantUpper, wantJSON string) {
		t.Helper()
		encoded, err := json.Marshal(Number(x))
		if got := digits(Number(x)); got != wantDigits {
			t.Errorf("digits(%g) = %s, want %s", x, got, wantDigits)
		}
		if got := Upper(Number(x)); got != wantUpper {
			t.Errorf("Upper(%g) = %s, want %s", x, got, wantUpper)
		}
		if err != nil || string(encoded) != wantJSON {
			t.Errorf("JSON of %g: %s, %v, want %s", x, encoded, err, wantJSON)
		}
	}
	f(0, "0", "0", "0")
	f(1, "1", "1", "1")
	f(1.5, "1.5", "1.5", "1.5")
	f(0.23681, "0.2368", "0.2369", "0.23681")
	f(99.995, "100", "100", "99.995")
	f(99.991, "99.99", "100", "99.991")
	f(12345.2, "12345", "12346", "12345.2")
	f(1e-6, "1e-06", "1e-06", "1e-06")
	f(1234567, "1.235e+06", "1.235e+06", "1.234567e+06")
	f(1234400, "1.234e+06", "1.235e+06", "1.2344e+06")
	f(math.Inf(1), "∞", "∞", "null")
	f(math.NaN(), "–", "–", "null")
}

func TestDuration(t *testing.T) {
	f := func(seconds float64, want string) {
		t.Helper()
		if got := Duration(seconds); got != want {
			t.Errorf("Duration(%g) = %q, want %q", seconds, got, want)
		}
	}
	f(0, "0 µs")
	f(2.5e-6, "2.5 µs")
	f(0.0125, "12.5 ms")
	f(1.26, "1.3 s")
	f(9.99, "10 s")
	f(59, "59 s")
	f(60, "1 min")
	f(61, "1 min 1 s")
	f(1024, "17 min 4 s")
	f(3600, "1 h")
	f(2*86400+3*3600+59*60, "2 d 3 h")
	f(364*86400, "364 d")
	f(365*86400, "1 y")
	f(400*86400, "1 y 35 d")
	f(9999*365*86400, "9999 y")
	f(1e5*365*86400, "1e+05 y")
}

func TestSizesAndCounts(t *testing.T) {
	f := func(got, want string) {
		t.Helper()
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	f(bytesOf(0), "0 B")
	f(bytesOf(10239), "10239 B")
	f(bytesOf(10240), "10.0 KiB")
	f(bytesOf(25<<20+1<<19), "25.5 MiB")
	f(bytesOf(64<<30), "64.0 GiB")
	f(count(9_999_999), "9999999")
	f(count(10_240_000), "10.24 M")
	f(count(math.MaxUint64), "1.845e+19")
	f(short(1), "1")
	f(short(1000), "1 k")
	f(short(1_500_000), "1.5 M")
	f(short(1e9), "1 G")
	f(short(1e13), "1e+13")
	f(counted(1, "step"), "1 step")
	f(counted(2, "step"), "2 steps")
}
