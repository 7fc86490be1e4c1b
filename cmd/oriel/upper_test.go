package main

import (
	"math/rand/v2"
	"strconv"
	"testing"
)

func TestUpperNeverShowsLessAndStaysClose(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 100_000 {
		x := random.ExpFloat64() * []float64{1e-9, 1e-3, 1, 1e4}[random.IntN(4)]
		shown, err := strconv.ParseFloat(upper(x), 64)
		if err != nil || shown < x || shown > x*1.0011 {
			t.Fatalf("upper(%g) = %s", x, upper(x))
		}
	}
	for _, x := range []float64{1, 1e-6, 0.5, 9.9999, 99.995} {
		if shown, err := strconv.ParseFloat(upper(x), 64); err != nil || shown < x {
			t.Errorf("upper(%g) = %s", x, upper(x))
		}
	}
}
