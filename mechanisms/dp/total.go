package dp

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"slices"
)

// Total is the loss of adaptively composed mechanisms that may all see the event, in three currencies: Gaussian µ's in
// quadrature, zCDP ρ's and pure ε's in sum. It is converted once, at the end. The zero value has lost nothing; a copy
// is independent. Sums are rounded up.
//
// A loss may depend on what was released before it, if on every history the losses of its currency add up to no more
// than the total was told (PROOF.md, Lemmas 4 to 6). Losses of mechanisms that see disjoint events do not add up: the
// total of an event is that of the mechanisms that see it.
type Total struct {
	squares sum // Σµ²
	rho     sum
	pures   []responses // by ascending loss; shared by copies, so never written
}

// AddMu composes with a µ-Gaussian-DP mechanism.
func (t *Total) AddMu(mu float64) {
	mustBeLoss("AddMu", mu)
	t.squares = t.squares.plus(square(mu))
}

// AddRho composes with a ρ-zCDP mechanism.
func (t *Total) AddRho(rho float64) {
	mustBeLoss("AddRho", rho)
	t.rho = t.rho.plus(exact(rho))
}

// AddPure composes with an ε-DP mechanism.
func (t *Total) AddPure(epsilon float64) {
	mustBeLoss("AddPure", epsilon)
	if epsilon > 0 {
		t.addResponses(responses{epsilon, 1})
	}
}

func (t *Total) addResponses(r responses) {
	at, found := slices.BinarySearchFunc(t.pures, r, func(a, b responses) int { return cmp.Compare(a.loss, b.loss) })
	if found {
		r.count = RoundUp(newFloat().Add(exact(r.count), exact(t.pures[at].count)))
		t.pures = slices.Concat(t.pures[:at], []responses{r}, t.pures[at+1:])
	} else {
		t.pures = slices.Concat(t.pures[:at], []responses{r}, t.pures[at:])
	}
}

// Add composes with the mechanisms of u.
func (t *Total) Add(u Total) {
	t.squares = t.squares.plus(u.squares.float())
	t.rho = t.rho.plus(u.rho.float())
	for _, r := range u.pures {
		t.addResponses(r)
	}
}

// Times returns the loss of k such compositions, one after the other on the same events: µ√k, kρ, kε.
func (t Total) Times(k uint64) Total { return t.scaled(k, 1) }

// Group returns the loss of a group of k events at once: kµ, k²ρ, kε (PROOF.md, Theorem 4).
func (t Total) Group(k uint64) Total { return t.scaled(1, k) }

// scaled repeats the composition, and increases each loss as for a group.
func (t Total) scaled(times, group uint64) Total {
	if times == 0 || group == 0 {
		return Total{}
	}
	n, k := newFloat().SetUint64(times), newFloat().SetUint64(group)
	scale := newFloat().Mul(k, k)
	scale.Mul(scale, n)
	scaled := Total{squares: t.squares.times(scale), rho: t.rho.times(scale)}
	for _, r := range t.pures {
		scaled.addResponses(responses{
			loss:  RoundUp(newFloat().Mul(exact(r.loss), k)),
			count: RoundUp(newFloat().Mul(exact(r.count), n)),
		})
	}
	return scaled
}

// Mu returns the Gaussian part, √Σµ², rounded up.
func (t Total) Mu() float64 { return rootUp(t.squares.float()) }

// Rho returns the zCDP part, rounded up.
func (t Total) Rho() float64 { return RoundUp(t.rho.float()) }

// Pure returns the pure part, Σε, rounded up.
func (t Total) Pure() float64 {
	total := newFloat().SetMode(big.ToPositiveInf)
	for _, r := range t.pures {
		total.Add(total, newFloat().Mul(exact(r.count), exact(r.loss)))
	}
	return RoundUp(total)
}

// Delta returns δ(ε), rounded up: the least of the bounds of PROOF.md, Theorem 3.
func (t Total) Delta(epsilon float64) float64 {
	if !(epsilon >= 0) {
		panic(fmt.Sprintf("BUG: dp: Delta at epsilon %g: negative or NaN", epsilon))
	}
	if math.IsInf(epsilon, 1) {
		return 0
	}
	delta := 1.0
	for _, r := range t.readings() {
		delta = min(delta, r.delta(epsilon))
	}
	return delta
}

// Epsilon returns ε at δ, rounded up: the least of the bounds of PROOF.md, Theorem 3. +Inf when there is none, as at
// δ = 0 for all but pure losses.
func (t Total) Epsilon(delta float64) float64 {
	switch {
	case !(delta >= 0):
		panic(fmt.Sprintf("BUG: dp: Epsilon at delta %g: negative or NaN", delta))
	case delta >= 1:
		return 0
	case delta == 0 && t.squares == sum{} && t.rho == sum{}:
		return t.Pure()
	case delta == 0:
		return math.Inf(1)
	}
	epsilon := math.Inf(1)
	for _, r := range t.readings() {
		epsilon = min(epsilon, r.epsilon(delta))
	}
	return epsilon
}

// square returns µ², exactly.
func square(mu float64) *big.Float { return newFloat().Mul(exact(mu), exact(mu)) }
