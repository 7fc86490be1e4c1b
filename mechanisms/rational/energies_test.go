package rational

import (
	"math"
	"math/big"
	"testing"
)

// TestEnergiesAreThoseOfTheSum compares energies of a fast table with the intervals of Energy, and with the sum of
// squares of all terms.
func TestEnergiesAreThoseOfTheSum(t *testing.T) {
	poles := []uint32{1<<30 - 40_000, 900_000_000, 350_000_000}
	weights := []Interval{Dyadic(3, -3), Dyadic(-5, -4), Dyadic(1, 0)}
	fast, err := NewEnergies(poles, weights)
	if err != nil {
		t.Fatal(err)
	}
	var s Sum
	for i, p := range poles {
		s.Add(Dyadic(int64(p), -Bits), weights[i])
	}
	squares, at := 0.0, [3]float64{3.0 / 8, -5.0 / 16, 1}
	for terms := uint64(1); terms <= 3000; terms++ {
		x := at[0] + at[1] + at[2]
		squares += x * x
		for i, p := range poles {
			at[i] *= float64(p) / (1 << Bits)
		}
		if terms > 5 && terms%977 != 0 {
			continue
		}
		exact, _ := s.Energy(terms).Hi.Float64()
		if got := fast.At(terms); math.Abs(got-squares) > 0x1p-20 || math.Abs(exact-squares) > 1e-9*squares {
			t.Errorf("%d terms: %g and %g, want %g", terms, got, exact, squares)
		}
	}
}

// TestPowersOfAnyExponent compares powers with e^(k·ln q), far beyond the exponents at which a power is 0.
func TestPowersOfAnyExponent(t *testing.T) {
	for _, q := range []uint32{1<<30 - 1, 1<<30 - 1000, 1 << 29} {
		for _, k := range []uint64{0, 1, 2, 1000, 1<<31 - 1, 1 << 31, 1<<31 + 5, 1<<32 + 1, 1 << 62} {
			want := math.Exp(float64(k) * math.Log1p(float64(q)/(1<<Bits)-1))
			if got := float64(Power62(q, k)) * 0x1p-62; math.Abs(got-want) > math.Min(1, float64(k)*0x1p-62)+1e-9 {
				t.Errorf("(%d/2^30)^%d = %g, want %g", q, k, got, want)
			}
		}
	}
}

// TestEventsOfOneUser counts the steps 0, s, 2s, … below a number of steps.
func TestEventsOfOneUser(t *testing.T) {
	for steps := uint64(1); steps <= 40; steps++ {
		for separation := uint64(1); separation <= 45; separation++ {
			want := uint64(0)
			for at := uint64(0); at < steps; at += separation {
				want++
			}
			if got := Events(steps, separation); got != want {
				t.Errorf("%d steps, %d apart: %d events, want %d", steps, separation, got, want)
			}
		}
	}
}

// TestRootsAreMovedOutwards checks that both ends of a root keep half of their margin from the root, because
// big.Float.Sqrt does not promise its rounding.
func TestRootsAreMovedOutwards(t *testing.T) {
	for _, x := range []uint64{1, 2, 3, 4, 10, 1 << 40, 1<<63 - 25} {
		r := Whole(x).Root()
		for _, end := range []struct {
			x    *big.Float
			sign int
		}{{r.Lo, -1}, {r.Hi, 1}} {
			square := new(big.Float).SetPrec(4*Down().Prec()).Mul(end.x, end.x)
			away := square.Sub(square, new(big.Float).SetUint64(x))
			margin := new(big.Float).SetMantExp(new(big.Float).SetUint64(x), rootMargin) // of a square, twice a root's
			if away.Sign() != end.sign || away.Abs(away).Cmp(margin) < 0 {
				t.Errorf("√%d: the end %g has a square %g away, want %g at least", x, end.x, away, margin)
			}
		}
	}
}
