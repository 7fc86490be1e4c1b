package windowtree

import (
	"math/big"

	"oriel/mechanisms/dp"
	"oriel/mechanisms/noise"
)

// margin raises a loss by a relative 2^margin, which covers the rounding of its last few operations at dp.Precision
// bits.
const margin = -240

// Events returns k = ⌈window/separation⌉: the largest number of events in one window that are at least separation steps
// apart.
func Events(window, separation uint64) uint64 { return ceil(window, separation) }

// Squares returns U = Σ_l k·⌈2^l/s⌉ over the levels l of a tree, s the separation: an upper bound on Σc_x², where c_x
// is the number of a user's events in one window under node x (mechanisms/PROOF.md, Lemma 1). For a single event, s ≥
// W, it is h.
func Squares(window, separation uint64) *big.Int {
	sum := new(big.Int)
	for level := range Depth(window) {
		sum.Add(sum, whole(ceil(1<<level, separation)))
	}
	return sum.Mul(sum, whole(Events(window, separation)))
}

// Loss gives µ by age under Gaussian noise: mechanisms/PROOF.md, Theorem 2. It is comparable, and a dp.UserCurve.
type Loss struct {
	Window     uint64 // W, steps
	Separation uint64 // s, steps between a user's events; W or more for a single event
	Square     uint64 // Δ², Δ the ℓ2 distance of two sums that differ in one event's contribution, lattice units²
	N          int    // n, number of coordinates
	Scale      noise.Scale
}

// Mu returns µ for the releases of age steps, starting at the first step of a window, rounded up, if a user's events in
// this window are exchanged. With m = ⌈age/W⌉ windows it is Δ√U/scale for m = 1, and for m > 1
//
//	(Δ·√(U − k² + k²·m(2W − 1)/W) + √(2nm(W − 1)))/scale.
func (l Loss) Mu(age uint64) float64 {
	if age <= l.Window {
		return l.first(age)
	}
	w, k, m := whole(l.Window), l.events(), whole(ceil(age, l.Window))
	spread := new(big.Int).Lsh(w, 1)
	spread.Sub(spread, whole(1)).Mul(spread, m)
	return l.mu(l.ownLoss(whole(1)), spread.Mul(spread, square(k)), m)
}

// MuAll returns µ for all releases in age steps, rounded up, if a user's events in all of them are exchanged. It equals
// Mu for m = 1. For m > 1 it is, with Q = m(m+1)(2m+1)/6,
//
//	(Δ·√(m(U − k²) + k²·((2W − 1)Q + (W − 1)m²)/W) + √(2nm(W − 1)))/scale.
func (l Loss) MuAll(age uint64) float64 {
	if age <= l.Window {
		return l.first(age)
	}
	w, k, m := whole(l.Window), l.events(), whole(ceil(age, l.Window))
	next := new(big.Int).Add(m, whole(1))
	sum := new(big.Int).Mul(m, next) // Q
	sum.Mul(sum, next.Add(next, m)).Div(sum, whole(6))
	spread := new(big.Int).Lsh(w, 1)
	spread.Sub(spread, whole(1)).Mul(spread, sum)
	late := new(big.Int).Sub(w, whole(1))
	spread.Add(spread, late.Mul(late, square(m)))
	return l.mu(l.ownLoss(m), spread.Mul(spread, square(k)), m)
}

// first returns µ for one window.
func (l Loss) first(age uint64) float64 {
	if age == 0 {
		return 0
	}
	return l.mu(Squares(l.Window, l.Separation), new(big.Int), new(big.Int))
}

func (l Loss) events() *big.Int { return whole(Events(l.Window, l.Separation)) }

// ownLoss returns m(U − k²).
func (l Loss) ownLoss(m *big.Int) *big.Int {
	u := Squares(l.Window, l.Separation)
	return u.Sub(u, square(l.events())).Mul(u, m)
}

// mu returns (Δ√(own + spread/W) + √(2n·windows·(W − 1)))/scale, rounded up.
func (l Loss) mu(own, spread, windows *big.Int) float64 {
	w := whole(l.Window)
	square := new(big.Int).Mul(own, w)
	x := dp.Float().SetInt(square.Add(square, spread))
	x.Quo(x, dp.Float().SetInt(w)).Sqrt(x).Mul(x, dp.Root(dp.Float().SetUint64(l.Square)))
	rounding := w.Sub(w, whole(1))
	rounding.Mul(rounding, windows).Mul(rounding, whole(2*uint64(l.N)))
	x.Add(x, dp.Root(dp.Float().SetInt(rounding)))
	return dp.Up(x.Quo(x, dp.Dyadic(l.Scale.Mant, l.Scale.Exp)), margin)
}

func whole(x uint64) *big.Int { return new(big.Int).SetUint64(x) }

func square(x *big.Int) *big.Int { return new(big.Int).Mul(x, x) }

// ceil returns ⌈x/y⌉ for x ≥ 1.
func ceil(x, y uint64) uint64 { return (x-1)/y + 1 }
