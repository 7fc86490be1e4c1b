package audit

import (
	"math"
	"testing"
)

func TestLeast(t *testing.T) {
	for _, limit := range []int{1, 2, 9, 100} {
		for want := 1; want <= limit; want++ {
			if got := least(limit, func(n int) bool { return n >= want }); got != want {
				t.Errorf("least of %d within %d: %d", want, limit, got)
			}
		}
	}
	if got := least(100, func(int) bool { return false }); got != 100 {
		t.Errorf("never enough: %d", got)
	}
}

// Coins are fair, and each run's own: 6.11 standard errors, 1e-9.
func TestCoinIsFair(t *testing.T) {
	const n = 100_000
	heads, changes := 0.0, 0.0
	for run := range uint64(n) {
		if Coin([32]byte{1}, run) {
			heads++
		}
		if Coin([32]byte{1}, run) != Coin([32]byte{2}, run) {
			changes++
		}
	}
	for _, count := range []float64{heads, changes} {
		if z := math.Abs(count-n/2) / math.Sqrt(n/4); z > 6.11 {
			t.Errorf("%g of %d: %.1f standard errors off", count, n, z)
		}
	}
}
