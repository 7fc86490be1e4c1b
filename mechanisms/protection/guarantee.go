package protection

import (
	"math"
	"math/big"

	"oriel/mechanisms/dp"
)

// Guarantee is the promise that a mechanism proves: the joint law of all releases that the scope names changes by at
// most (Epsilon, Delta) between neighbours that differ in one unit. A step holds Batch events; Batch is 0 if steps hold
// all events of their time.
type Guarantee struct {
	Terms
	Mechanism      string
	Batch          uint64
	Epsilon, Delta float64  // proved loss
	Told           float64  // part of Delta: probability of events that reveal a unit (dp.Total.AddTold), for names
	Mu             float64  // Gaussian-DP parameter of the same releases, rounded up; 0 if the guarantee is pure ε
	Curve          dp.Curve // for Gaussian loss that depends on age, and a dp.UserCurve for a User; otherwise nil
	Draws          dp.Draws // for a stream that draws elements; without released sums, Epsilon counts only draws
}

// At returns ε(age) at the same δ: the loss over all releases in a unit's first age steps, rounded up. For a unit of
// several events it covers the events within ExchangeSteps, followed to this age. A Gaussian mechanism uses its Curve.
// Pure ε costs mε for m = ⌈age/W⌉ windows, because an event that left its window stays in the running sum, under the
// noise of the contribution that took its place. Age 0 is before the first release.
func (g Guarantee) At(age uint64) dp.Budget {
	age = min(age, g.Scope.End())
	if age == 0 {
		return dp.Budget{}
	}
	if g.Curve == nil {
		periods := g.Scope.periods(age)
		if periods > 1 && g.Mu > 0 { // m windows of Gaussian noise may lose more than mε at the same δ
			panic("BUG: protection: a Gaussian guarantee of several windows without a curve")
		}
		return g.times(integer(periods))
	}
	mu := g.Curve.Mu(age)
	if g.Scope.reached(age, mu, g.Mu) {
		return g.claim()
	}
	part := g.gaussian(mu)
	if g.Scope.capped() {
		part.Epsilon = min(part.Epsilon, g.Epsilon)
	}
	return part
}

// AtSpans returns At for an age of this many spans, that is full windows or memories, even if their steps overflow;
// spans is at least 1.
func (g Guarantee) AtSpans(spans uint64) dp.Budget {
	if g.Mu == 0 && g.Scope.periods(Endless) > 1 {
		return g.times(integer(spans))
	}
	return g.At(times(spans, max(g.Scope.Span(), 1)))
}

// AtAge returns At for an age that is printed.
func (g Guarantee) AtAge(a Age) dp.Budget {
	if a.Spans > 0 {
		return g.AtSpans(a.Spans)
	}
	return g.At(a.Steps)
}

// AtAll returns the loss over all releases in any age steps, rounded up, if all events of a unit in these steps are
// exchanged; At covers only the events within ExchangeSteps. Pure ε costs ε·m(m+1)/2 for m = ⌈age/W⌉: the events of the
// first window cost mε, those of the second (m−1)ε, and so on. For a UserPeriod it is AtPeriods of all periods that the
// steps can touch. It panics for a unit of one event.
func (g Guarantee) AtAll(age uint64) dp.Budget {
	if user, is := g.Unit.(UserPeriod); is {
		return g.AtPeriods(user.periods(age))
	}
	if _, several := g.Unit.EventSeparation(); !several {
		panic("BUG: protection: all events of a unit that has one")
	}
	age = min(age, g.Scope.End())
	switch among := g.ExchangeSteps(); {
	case age <= among:
		return g.At(age)
	case g.Mu > 0:
		return g.gaussian(g.Curve.(dp.UserCurve).MuAll(age))
	default:
		m := integer(g.Scope.periods(age))
		sum := dp.Float().Add(m, dp.Exact(1)) // below 2⁶⁵, so the product is below 2¹²⁹
		return g.times(sum.Mul(sum, m).Quo(sum, dp.Exact(2)))
	}
}

// AtPeriods returns the loss of all events of a user in n periods, rounded up: √n·µ (Gaussian) or nε (pure; PROOF.md,
// Theorem 13). The periods need not be consecutive. It panics unless the unit is a UserPeriod.
func (g Guarantee) AtPeriods(n uint64) dp.Budget {
	if _, is := g.Unit.(UserPeriod); !is {
		panic("BUG: protection: periods of a unit that has none")
	}
	switch {
	case n == 0:
		return dp.Budget{}
	case n == 1:
		return g.claim()
	}
	g = g.moreTold(n, 1)
	switch {
	case g.Mu > 0:
		var total dp.Total
		total.AddMu(g.Mu)
		all := total.Times(n)
		return g.gaussian(all.Mu())
	default:
		return g.times(integer(n))
	}
}

// AtOneEvent returns the loss if one event of a UserPeriod is present or absent, and the user's other events are in
// both streams, rounded up. It is 2/k of the unit's: twice the loss of one contribution, because removing an event that
// counts admits the user's next one (PROOF.md, Theorem 14). For k = 1 that is more than the loss of the unit. With m
// values it is 2/m of ε, and √(2/m) of µ, because the two contributions are apart (Theorem 16). It panics unless the
// unit is a UserPeriod.
func (g Guarantee) AtOneEvent() dp.Budget {
	user, is := g.Unit.(UserPeriod)
	if !is {
		panic("BUG: protection: one event of a unit that is no user's period")
	}
	g = g.moreTold(2, user.StepEvents())
	up := dp.Float().SetMode(big.ToPositiveInf)
	if g.Mu > 0 && user.Apart() {
		up.Sqrt(up.Quo(dp.Exact(2), integer(user.Values)))
		return g.gaussian(dp.RoundUp(up.Mul(up, dp.Exact(g.Mu))))
	}
	share := func(loss float64) float64 {
		return dp.RoundUp(up.Quo(up.Mul(dp.Exact(loss), dp.Exact(2)), integer(user.StepEvents())))
	}
	if g.Mu > 0 {
		return g.gaussian(share(g.Mu))
	}
	return dp.Budget{Epsilon: share(g.Epsilon), Delta: g.Delta}
}

// Group returns the loss if several units are exchanged at once, for example k events of one person at event level: kµ
// (Gaussian) or kε (pure), rounded up. No smaller bound holds for every mechanism with that µ or ε (Dong, Roth and Su
// 2022, Theorem 2.14). For draws without sums it is the loss of kε and k²ρ at δ. With told events it is kε at δ·Σ_{j<k}
// e^(jε), as for any (ε, δ) (dp/PROOF.md, Lemma 7).
func (g Guarantee) Group(units uint64) dp.Budget {
	switch {
	case units == 0:
		return dp.Budget{}
	case units == 1:
		return g.claim()
	case g.Told > 0:
		var total dp.Total
		total.AddPure(g.Epsilon)
		total.AddTold(g.Delta)
		total = total.Group(units)
		return dp.Budget{Epsilon: total.Pure(), Delta: total.Told()}
	case g.Mu > 0:
		return g.gaussian(dp.RoundUp(dp.Float().Mul(dp.Exact(g.Mu), integer(units))))
	case g.Delta > 0: // only draws, without released sums
		total := g.Draws.Of(units)
		return dp.Budget{Epsilon: total.Epsilon(g.Delta), Delta: g.Delta}
	default:
		return g.times(integer(units))
	}
}

// BackgroundEvents returns the number of events in Scope.BackgroundSteps, for dp.DeltaWarning.
func (g Guarantee) BackgroundEvents() uint64 { return times(g.Scope.BackgroundSteps(), g.Batch) }

func (g Guarantee) claim() dp.Budget { return dp.Budget{Epsilon: g.Epsilon, Delta: g.Delta} }

// gaussian returns the budget of µ at this δ, of which told events take their part.
func (g Guarantee) gaussian(mu float64) dp.Budget {
	var total dp.Total
	total.AddMu(mu)
	total.AddTold(g.Told)
	return dp.Budget{Epsilon: total.Epsilon(g.Delta), Delta: g.Delta}
}

// moreTold returns the guarantee with num/den times the told events, rounded up. The rest of δ stays.
func (g Guarantee) moreTold(num, den uint64) Guarantee {
	up := dp.Float().SetMode(big.ToPositiveInf)
	told := min(1, dp.RoundUp(up.Quo(up.Mul(dp.Exact(g.Told), integer(num)), integer(den))))
	up.Add(up.Sub(dp.Exact(g.Delta), dp.Exact(g.Told)), dp.Exact(told))
	g.Told, g.Delta = told, min(1, dp.RoundUp(up))
	return g
}

// times returns the budget with count times ε, for an integer count below 2¹³⁰. The product needs 53 more bits than
// count, so it is exact.
func (g Guarantee) times(count *big.Float) dp.Budget {
	return dp.Budget{Epsilon: dp.RoundUp(dp.Float().Mul(dp.Exact(g.Epsilon), count)), Delta: g.Delta}
}

func integer(x uint64) *big.Float { return dp.Float().SetUint64(x) }

// times returns a·b, or the largest step number if the product exceeds it.
func times(a, b uint64) uint64 {
	if b > 0 && a > math.MaxUint64/b {
		return math.MaxUint64
	}
	return a * b
}
