package digits

import (
	"math"
	"math/rand/v2"
	"strconv"
	"testing"
)

func TestUpperNeverShowsLessAndStaysClose(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 100_000 {
		x := random.ExpFloat64() * []float64{1e-9, 1e-3, 1, 1e4, 1e9}[random.IntN(5)]
		shown, err := strconv.ParseFloat(Upper(x), 64)
		if err != nil || shown < x || shown > x*1.0011 {
			t.Fatalf("Upper(%g) = %s", x, Upper(x))
		}
	}
}

func TestNumbers(t *testing.T) {
	f := func(x float64, four, upper string) {
		t.Helper()
		if got := Four(x); got != four {
			t.Errorf("Four(%g) = %s, want %s", x, got, four)
		}
		if got := Upper(x); got != upper {
			t.Errorf("Upper(%g) = %s, want %s", x, got, upper)
		}
	}
	f(0, "0", "0")
	f(1, "1", "1")
	f(1.5, "1.5", "1.5")
	f(0.23681, "0.2368", "0.2369")
	f(99.995, "100", "100")
	f(99.991, "99.99", "100")
	f(12345.2, "12345", "12346")
	f(1e-6, "1e-06", "1e-06")
	f(1234567, "1.235e+06", "1.235e+06")
	f(1234400, "1.234e+06", "1.235e+06")
	f(math.Inf(1), "∞", "∞")
	f(math.NaN(), "–", "–")
	f(math.Copysign(0, -1), "0", "0")
	for x, want := range map[float64]string{
		math.Copysign(0, -1): "0", 1: "1", 1000: "1 k", 1_500_000: "1.5 M", 1e9: "1 G", 1e13: "1e+13",
	} {
		if got := Short(x); got != want {
			t.Errorf("Short(%g) = %s, want %s", x, got, want)
		}
	}
	for x, want := range map[float64]string{
		0: "0.00", -0.001: "0.00", -1.234: "-1.23", 9.994: "9.99", 9.996: "10.0", -99.96: "-100", 1234.6: "1235",
	} {
		if got := Three(x); got != want {
			t.Errorf("Three(%g) = %s, want %s", x, got, want)
		}
	}
	if Three(math.NaN()) != "–" || Counted(1, "step") != "1 step" || Counted(uint64(2), "step") != "2 steps" {
		t.Error("a value that does not exist has no dash, or a noun no number")
	}
}
