package audit

import (
	"math"
	"testing"

	"oriel/mechanisms"
	"oriel/mechanisms/mechtest"
	"oriel/mechanisms/mechtest/tiertest"
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

// TestCoinIsFair checks that coins are fair and independent between runs, within 6.11 standard errors (1e-9).
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

// TestClippedPlacesAreSpread checks that CheckClip respects its limits on places, numbers and records, and plays places
// all over the vector.
func TestClippedPlacesAreSpread(t *testing.T) {
	for _, x := range []struct {
		n     int
		batch uint64
		count int
	}{
		{1, 1, 1},
		{30, 5, 30},
		{4096, 1, 4096},
		{5000, 1, 4096},
		{1 << 16, 1, 1 << 10},
		{100, 1 << 20, 4},
		{100, 1 << 23, 1},
	} {
		all := make([]int, x.n)
		for i := range all {
			all[i] = i
		}
		places := spread(all, x.n, x.batch)
		if len(places) != x.count || places[0] != 0 {
			t.Fatalf("%+v: %d places from %d", x, len(places), places[0])
		}
		for k, i := range places[1:] {
			if gap := i - places[k]; gap != x.n/x.count && gap != x.n/x.count+1 {
				t.Errorf("%+v: places %d and %d are next", x, places[k], i)
			}
		}
	}
}

// TestCheckClipOfALongVector checks an honest clip along some coordinates of a long vector.
func TestCheckClipOfALongVector(t *testing.T) {
	n := tiertest.Runs(1<<10, 1<<16)
	c := mechtest.Config(n)
	p := mechtest.Plan(t, c)
	stream, err := mechanisms.Open(c, p, [32]byte{6})
	if err != nil {
		t.Fatal(err)
	}
	if test, err := CheckClip(c, p, stream); err != nil || test.Count != 1<<10 || test.P < 1e-4 {
		t.Errorf("%+v, %v", test, err)
	}
}
