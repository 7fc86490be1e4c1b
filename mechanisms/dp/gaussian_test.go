package dp

import (
	"encoding/csv"
	"math"
	"math/big"
	"os"
	"strconv"
	"testing"
)

// grid reads one of testdata's files: each line has some float64 arguments and a result of 40 digits by mpmath
// (testdata/grid.py).
func grid(t *testing.T, name string, rows int, check func(x []float64, want *big.Float)) {
	t.Helper()
	f, err := os.Open("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	read, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if len(read) != rows {
		t.Fatalf("%s has %d rows, want %d", name, len(read), rows)
	}
	for _, row := range read {
		last := len(row) - 1
		x := make([]float64, last)
		for i := range x {
			if x[i], err = strconv.ParseFloat(row[i], 64); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		want, _, err := big.ParseFloat(row[last], 10, precision, big.ToNearestEven)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		check(x, want)
	}
}

// TestDeltaIsTheLeastFloatAboveTheTruth compares δ with results of mpmath. They have 40 digits, so the smallest float64
// above the exact value is known unless a result is within 1e-39 of a float64.
func TestDeltaIsTheLeastFloatAboveTheTruth(t *testing.T) {
	grid(t, "delta.csv", 87, func(x []float64, want *big.Float) {
		epsilon, mu := x[0], x[1]
		if got := GaussianDelta(epsilon, mu); got != RoundUp(want) {
			t.Errorf("GaussianDelta(%g, %g) = %g, want %g", epsilon, mu, got, RoundUp(want))
		}
	})
}

func TestMuIsTheLargestFloatBelowTheTruth(t *testing.T) {
	grid(t, "mu.csv", 63, func(x []float64, want *big.Float) {
		epsilon, delta := x[0], x[1]
		got := GaussianMu(Budget{Epsilon: epsilon, Delta: delta})
		if ceil := RoundUp(want); got != math.Nextafter(ceil, 0) {
			t.Errorf("GaussianMu(%g, %g) = %g, want the float64 below %g", epsilon, delta, got, ceil)
		}
	})
}

func TestEpsilonInvertsMuRoundedUp(t *testing.T) {
	grid(t, "mu.csv", 63, func(x []float64, _ *big.Float) {
		epsilon, delta := x[0], x[1]
		mu := GaussianMu(Budget{Epsilon: epsilon, Delta: delta})
		got := GaussianEpsilon(mu, delta)
		// One ulp of µ moves ε by at most slack, because dε/dµ ≤ ε/µ + µ + √(2 ln(1/δ)).
		slack := 4e-16 * (mu*(epsilon/mu+mu+math.Sqrt(-2*math.Log(delta))) + epsilon)
		if got > epsilon || got < epsilon-slack {
			t.Errorf("GaussianEpsilon(GaussianMu(%g, %g)) = %g", epsilon, delta, got)
		}
		if GaussianDelta(got, mu) > delta {
			t.Errorf("GaussianEpsilon(%g, %g) = %g is not proved", mu, delta, got)
		}
		if below := math.Nextafter(got, 0); GaussianDelta(below, mu) <= delta {
			t.Errorf("GaussianEpsilon(%g, %g) = %g is not the least", mu, delta, got)
		}
	})
}

func TestConversionAtTheEdges(t *testing.T) {
	f := func(name string, got, want float64) {
		t.Helper()
		if got != want {
			t.Errorf("%s = %g, want %g", name, got, want)
		}
	}
	inf := math.Inf(1)
	f("delta of no loss", GaussianDelta(1, 0), 0)
	f("delta at infinite epsilon", GaussianDelta(inf, 5), 0)
	f("delta of infinite mu", GaussianDelta(1, inf), 1)
	f("delta below the least float", GaussianDelta(1e9, 1), math.SmallestNonzeroFloat64)
	f("delta above 1 - 2^-53", GaussianDelta(1, 100), 1)
	f("epsilon of no loss", GaussianEpsilon(0, 0), 0)
	f("epsilon at delta 0", GaussianEpsilon(1, 0), inf)
	f("epsilon at delta 1", GaussianEpsilon(inf, 1), 0)
	f("epsilon of infinite mu", GaussianEpsilon(inf, 0.5), inf)
	f("mu at delta 0", GaussianMu(Budget{Epsilon: 1}), 0)
}

func TestConversionPanicsOnNonsense(t *testing.T) {
	f := func(call func()) {
		t.Helper()
		defer func() {
			if recover() == nil {
				t.Error("no panic")
			}
		}()
		call()
	}
	nan := math.NaN()
	f(func() { GaussianDelta(nan, 1) })
	f(func() { GaussianDelta(1, -1) })
	f(func() { GaussianEpsilon(1, nan) })
	f(func() { GaussianEpsilon(nan, 0.1) })
	f(func() { GaussianMu(Budget{Epsilon: 1, Delta: 1}) })
	f(func() { GaussianMu(Budget{Epsilon: nan, Delta: 0.1}) })
}

// TestMillsMethodsAgree checks that the truncation of the continued fraction is far below the margin: doubling its
// length changes nothing above 2⁻¹⁵⁸. Series and fraction must agree where both are accurate.
func TestMillsMethodsAgree(t *testing.T) {
	for _, x := range []float64{6, 6.5, 8, 12.25, 25, 40, 1000, 1 << 20} {
		short := mills(exact(x))
		long := fraction(exact(x), 3*(30+int(5000/(x*x))))
		difference := newFloat().Sub(short, long)
		if difference.Sign() != 0 && difference.MantExp(nil)-short.MantExp(nil) > -158 {
			t.Errorf("mills(%g): short and long fraction differ by 2^%d", x, difference.MantExp(nil)-short.MantExp(nil))
		}
	}
	x := exact(5.99)
	difference := newFloat().Sub(mills(x), fraction(x, 2000))
	if difference.Sign() != 0 && difference.MantExp(nil) > -155 {
		t.Errorf("series and fraction differ by 2^%d at 5.99", difference.MantExp(nil))
	}
}

func TestLogUpIsTightAndNeverBelow(t *testing.T) {
	for _, x := range []float64{1e-300, 0.1, 0.5, 1, math.Nextafter(1, 2), 2, math.E, 10, 2e6, 1e300, math.MaxFloat64} {
		got, want := LogUp(x), math.Log(x)
		if got < want-4e-16*math.Abs(want) || got > want+4e-16*math.Abs(want)+1e-42 {
			t.Errorf("LogUp(%g) = %g, want %g", x, got, want)
		}
		if y := exact(got); math.Abs(got) < tail*tail/2 && exponential(y).Cmp(exact(x)) < 0 {
			t.Errorf("LogUp(%g) = %g is below the logarithm", x, got)
		}
	}
	if got := LogUp(math.Inf(1)); !math.IsInf(got, 1) {
		t.Errorf("LogUp(+Inf) = %g", got)
	}
}
