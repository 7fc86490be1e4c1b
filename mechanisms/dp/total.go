package dp

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"slices"
)

// Total is the loss of adaptively composed mechanisms, all of which may use the same event. It holds three currencies:
// Gaussian µ's add in quadrature, zCDP ρ's and pure ε's add up. A Total is converted only once, at the end. The zero
// value has no loss; a copy is independent. Sums are rounded up.
//
// A loss may depend on earlier releases, if on every history the losses of its currency add up to at most the amount
// added to the total (PROOF.md, Lemmas 4 to 6). Losses of mechanisms that use disjoint events do not add up: the total
// of an event counts only the mechanisms that use it.
type Total struct {
	squares sum // Σµ² of the Gaussian mechanisms
	rho     sum
	pures   []responses // pure mechanisms by ascending loss; copies share the slice, so it must not be written
	told    float64     // probability of the events that AddTold added, at most 1
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

// AddTold composes with an event of probability at most q, which reveals everything: of both neighbours' laws, a part
// of mass 1 − q has the losses that are added besides, and nothing is known of the rest. A mechanism is (ε, q)-DP
// exactly if its loss is AddPure(ε) and AddTold(q) (PROOF.md, Lemma 7).
func (t *Total) AddTold(q float64) {
	mustBeLoss("AddTold", q)
	t.told = min(1, RoundUp(up().Add(exact(t.told), exact(q))))
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
	t.AddTold(u.told)
}

// Times returns the loss of k compositions t in sequence on the same events: µ√k, kρ, kε, kq.
func (t Total) Times(k uint64) Total { return t.scaled(k, 1) }

// Group returns the loss of a group of k events exchanged at once: kµ, k²ρ, kε (PROOF.md, Theorem 4). A told q becomes
// q·Σ_{j<k} e^(jε) (Lemma 7), ε the sum of the pure losses. With µ or ρ besides q no bound is known, and q becomes 1.
func (t Total) Group(k uint64) Total { return t.scaled(1, k) }

// scaled repeats the composition times times, and increases each loss for a group of events.
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
	scaled.told = t.toldOf(group)
	scaled.told = min(1, RoundUp(up().Mul(exact(scaled.told), n)))
	return scaled
}

// toldOf returns q·Σ_{j<k} e^(jε), rounded up, at most 1.
func (t Total) toldOf(group uint64) float64 {
	if t.told == 0 || group == 1 {
		return t.told
	}
	if t.squares != (sum{}) || t.rho != (sum{}) {
		return 1
	}
	e, k := exact(t.Pure()), newFloat().SetUint64(group)
	whole := newFloat().Mul(e, k)
	if whole.Cmp(exact(maxExponent)) > 0 {
		return 1
	}
	sum := exponential(whole)
	if e.Cmp(exact(0x1p-20)) > 0 { // the sum is (e^(kε) − 1)/(e^ε − 1); below, k·e^(kε) bounds it without cancellation
		sum.Sub(sum, exact(1)).Quo(sum, e.Sub(exponential(e), exact(1)))
	} else {
		sum.Mul(sum, k)
	}
	return min(1, RoundUp(outward(sum.Mul(sum, exact(t.told)))))
}

// Mu returns the Gaussian part, √Σµ², rounded up.
func (t Total) Mu() float64 { return rootUp(t.squares.float()) }

// Rho returns the zCDP part, rounded up.
func (t Total) Rho() float64 { return RoundUp(t.rho.float()) }

// Told returns the probability of the events of AddTold, rounded up.
func (t Total) Told() float64 { return t.told }

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
	for _, r := range t.conversions() {
		delta = min(delta, r.delta(epsilon))
	}
	if t.told == 0 {
		return delta
	}
	rest := up().Sub(exact(1), exact(t.told)) // 1 − (1 − q)(1 − δ′) = q + (1 − q)δ′
	return min(1, RoundUp(rest.Mul(rest, exact(delta)).Add(rest, exact(t.told))))
}

// Epsilon returns ε at δ, rounded up: the least of the bounds of PROOF.md, Theorem 3. It is +Inf if no bound exists,
// for example at δ = 0 unless all losses are pure.
func (t Total) Epsilon(delta float64) float64 {
	switch {
	case !(delta >= 0):
		panic(fmt.Sprintf("BUG: dp: Epsilon at delta %g: negative or NaN", delta))
	case delta >= 1:
		return 0
	case t.told > 0:
		return t.beside(delta)
	case delta == 0 && t.squares == sum{} && t.rho == sum{}:
		return t.Pure()
	case delta == 0:
		return math.Inf(1)
	}
	epsilon := math.Inf(1)
	for _, r := range t.conversions() {
		epsilon = min(epsilon, r.epsilon(delta))
	}
	return epsilon
}

// beside returns Epsilon at a δ of which the told events take their part.
func (t Total) beside(delta float64) float64 {
	if delta < t.told {
		return math.Inf(1)
	}
	rest := newFloat().Sub(exact(delta), exact(t.told))
	left, _ := rest.Quo(rest, newFloat().Sub(exact(1), exact(t.told))).Float64()
	t.told = 0
	return t.Epsilon(math.Nextafter(left, 0)) // below the quotient, however it was rounded
}

// up returns 0 at the precision of conversions, in a big.Float that rounds up.
func up() *big.Float { return newFloat().SetMode(big.ToPositiveInf) }

// square returns µ², exactly.
func square(mu float64) *big.Float { return newFloat().Mul(exact(mu), exact(mu)) }

// Draws is the loss of a stream's own draws (mechanisms.Stream.Choose) without released sums. For a unit it covers all
// draws in the stream's life whose scores the unit can move, in the history with the most affected draws. Pure ε's and
// zCDP ρ's are summed; both are at least 0. The zero value is the loss of draws that depend on events only through
// releases.
type Draws struct{ Pure, Rho float64 }

// Epsilon returns the loss of the draws alone at δ, rounded up.
func (d Draws) Epsilon(delta float64) float64 {
	total := d.Of(1)
	return total.Epsilon(delta)
}

// Of returns the loss of the draws if this many units are exchanged at once.
func (d Draws) Of(units uint64) Total {
	var total Total
	total.AddPure(d.Pure)
	total.AddRho(d.Rho)
	return total.Group(units)
}

// sum is a number ≥ 0, high + low: the nearest float64, and the rest rounded up. Unlike big.Float it is a value, and it
// holds the square of a float64 exactly.
type sum struct{ high, low float64 }

// plus returns s + x, rounded up.
func (s sum) plus(x *big.Float) sum {
	total := s.float()
	total.Add(total, x)
	high, _ := total.Float64()
	if math.IsInf(high, 1) {
		return sum{high: high}
	}
	return sum{high, RoundUp(total.Sub(total, exact(high)))}
}

// times returns s·k, rounded up.
func (s sum) times(k *big.Float) sum {
	x := s.float()
	return sum{}.plus(x.Mul(x, k))
}

// float returns s in a new big.Float that rounds up.
func (s sum) float() *big.Float {
	x := newFloat().SetMode(big.ToPositiveInf).SetFloat64(s.high)
	return x.Add(x, exact(s.low))
}

// rootUp returns the least float64 that is at least √x, x ≥ 0.
func rootUp(x *big.Float) float64 {
	if x.IsInf() {
		return math.Inf(1)
	}
	atLeast := func(root float64) bool { // a square of a float64 is exact at this precision
		return newFloat().Mul(exact(root), exact(root)).Cmp(x) >= 0
	}
	root, _ := newFloat().Sqrt(x).Float64()
	for !atLeast(root) {
		root = math.Nextafter(root, math.Inf(1))
	}
	for root > 0 && atLeast(math.Nextafter(root, 0)) {
		root = math.Nextafter(root, 0)
	}
	return root
}
