package protection

import (
	"math"
	"math/big"
	"testing"

	"oriel/mechanisms/dp"
	"oriel/mechanisms/mechtest/tiertest"
)

// rising is a curve whose µ grows with the square root of age up to a last age. MuAll grows twice as fast, without end.
type rising struct{ mu, span, last float64 }

func (r rising) Mu(age uint64) float64 { return r.mu * math.Sqrt(min(float64(age), r.last)/r.span) }

func (r rising) MuAll(age uint64) float64 {
	if float64(age) <= r.span {
		return r.Mu(age)
	}
	return 2 * r.mu * math.Sqrt(float64(age)/r.span)
}

// slowAt is At computed from its specification, case by case for the scopes: it counts windows one by one.
func slowAt(g Guarantee, age uint64) dp.Budget {
	life, ends := g.Scope.(Lifetime)
	for ends && age > life.Steps {
		age = life.Steps
	}
	if age == 0 {
		return dp.Budget{}
	}
	claim := dp.Budget{Epsilon: g.Epsilon, Delta: g.Delta}
	if g.Mu == 0 {
		epsilon := g.Epsilon
		if window, is := g.Scope.(Window); is {
			for start := window.Steps; start < age; start += window.Steps {
				epsilon += g.Epsilon
			}
		}
		return dp.Budget{Epsilon: epsilon}
	}
	if g.Curve == nil {
		return claim
	}
	part := dp.Budget{Epsilon: dp.GaussianEpsilon(g.Curve.Mu(age), g.Delta), Delta: g.Delta}
	switch s := g.Scope.(type) {
	case Window:
		if age == s.Steps {
			return claim
		}
	case Lifetime:
		if age == s.Within {
			return claim
		}
	case Decay:
		if g.Curve.Mu(age) >= g.Mu || part.Epsilon > claim.Epsilon {
			return claim
		}
	case PerStep:
		return claim
	}
	return part
}

// slowAll is AtAll computed from its specification: it follows the events of each window from this window on.
func slowAll(g Guarantee, age, among uint64) dp.Budget {
	life, ends := g.Scope.(Lifetime)
	for ends && age > life.Steps {
		age = life.Steps
	}
	if user, is := g.Unit.(UserPeriod); is {
		return slowPeriods(g, user, age)
	}
	if age <= among {
		return slowAt(g, age)
	}
	if g.Mu > 0 {
		return dp.Budget{Epsilon: dp.GaussianEpsilon(g.Curve.(dp.UserCurve).MuAll(age), g.Delta), Delta: g.Delta}
	}
	epsilon := 0.0
	for start := uint64(0); start < age; start += among {
		for rest := start; rest < age; rest += among {
			epsilon += g.Epsilon
		}
	}
	return dp.Budget{Epsilon: epsilon}
}

// slowPeriods is AtAll of a user's periods: it counts the periods of consecutive steps from each first step on, and
// adds their losses one by one. µ is a power of two, so its squares are exact.
func slowPeriods(g Guarantee, u UserPeriod, age uint64) dp.Budget {
	most := 0
	for first := range u.PeriodSteps {
		touched := map[uint64]bool{}
		for step := range age {
			touched[(first+step)/u.PeriodSteps] = true
		}
		most = max(most, len(touched))
	}
	epsilon, squares := 0.0, 0.0
	for range most {
		epsilon, squares = epsilon+g.Epsilon, squares+g.Mu*g.Mu
	}
	switch {
	case most == 0:
		return dp.Budget{}
	case most == 1:
		return dp.Budget{Epsilon: g.Epsilon, Delta: g.Delta}
	case g.Mu > 0:
		return dp.Budget{Epsilon: dp.GaussianEpsilon(rootUp(squares), g.Delta), Delta: g.Delta}
	}
	return dp.Budget{Epsilon: epsilon}
}

// rootUp returns √x for an x of few bits, rounded up.
func rootUp(x float64) float64 {
	root := math.Sqrt(x)
	if exact := new(big.Float).SetPrec(200).SetFloat64(root); exact.Mul(exact, exact).Cmp(big.NewFloat(x)) < 0 {
		root = math.Nextafter(root, math.Inf(1))
	}
	return root
}

// referenceCases returns guarantees of every scope and unit. Pure ε is a power of two, so that its sums are exact.
// Gaussian ε is a little below the ε of µ just before the span, so that a test can distinguish the claim from its
// curve.
func referenceCases() map[string]Guarantee {
	user := User{Exchange: dp.Replace, Separation: 3}
	pure := func(s Scope, u Unit) Guarantee {
		return Guarantee{Terms: Terms{s, u}, Mechanism: "pure", Batch: 3, Epsilon: 0.5}
	}
	gaussian := func(s Scope, u Unit, span, last float64) Guarantee {
		g := Guarantee{
			Terms: Terms{s, u}, Mechanism: "gaussian", Batch: 3, Delta: 1e-6, Mu: 0.25,
			Epsilon: dp.GaussianEpsilon(0.25*math.Sqrt(0.95), 1e-6),
		}
		if span > 0 {
			g.Curve = rising{0.25, span, last}
		}
		return g
	}
	without := math.Inf(1)
	return map[string]Guarantee{
		"pure window":                 pure(Window{8}, event),
		"pure window of a user":       pure(Window{8}, user),
		"pure step":                   pure(Window{1}, event),
		"pure lifetime":               pure(Lifetime{11, 16}, event),
		"pure lifetime of a user":     pure(Lifetime{11, 16}, user),
		"pure per step":               pure(PerStep{}, event),
		"gaussian window":             gaussian(Window{40}, event, 40, without),
		"gaussian window of a user":   gaussian(Window{40}, user, 40, without),
		"gaussian step":               gaussian(Window{1}, event, 1, without),
		"gaussian lifetime":           gaussian(Lifetime{11, 16}, event, 16, without),
		"gaussian whole lifetime":     gaussian(Lifetime{16, 16}, event, 16, without),
		"gaussian lifetime of a user": gaussian(Lifetime{11, 16}, user, 16, without),
		"gaussian decay":              gaussian(Decay{20}, event, 50, 50),
		"gaussian decay of a user":    gaussian(Decay{20}, User{Exchange: dp.Replace, Separation: 3, Steps: 30}, 50, 50),
		"gaussian decay, no curve":    gaussian(Decay{20}, event, 0, 0),
		"gaussian per step":           gaussian(PerStep{}, event, 0, 0),
		"pure period of a user":       pure(PerStep{}, UserPeriod{PeriodSteps: 5, Events: 3}),
		"gaussian period of a user":   gaussian(PerStep{}, UserPeriod{PeriodSteps: 5, Events: 3}, 0, 0),
		"gaussian step of a user":     gaussian(PerStep{}, UserPeriod{PeriodSteps: 1, Events: 1}, 0, 0),
	}
}

// TestLossesMatchReferenceModel compares a guarantee with its slow reference model at every age, for the events within
// ExchangeSteps (At) and for all events (AtAll), by steps, by spans, and at the printed ages.
func TestLossesMatchReferenceModel(t *testing.T) {
	for what, g := range referenceCases() {
		_, several := g.Unit.EventSeparation()
		among := map[string]uint64{
			"pure window of a user": 8, "pure lifetime of a user": 16, "gaussian window of a user": 40,
			"gaussian lifetime of a user": 16, "gaussian decay of a user": 30,
			"pure period of a user": 5, "gaussian period of a user": 5, "gaussian step of a user": 1,
		}[what]
		if several != (among > 0) || several && g.ExchangeSteps() != among {
			t.Errorf("%s: events among %d steps, want %d", what, g.ExchangeSteps(), among)
		}
		for age := range uint64(140) {
			if tiertest.Runs(age > 42 && age%5 > 0, false) {
				continue // the longest span below is 40 steps, so longer ones need no entry
			}
			if got, want := g.At(age), slowAt(g, age); got != want {
				t.Errorf("%s: At(%d) = %v, want %v", what, age, got, want)
			}
			if !several {
				continue
			}
			if got, want := g.AtAll(age), slowAll(g, age, among); got != want {
				t.Errorf("%s: AtAll(%d) = %v, want %v", what, age, got, want)
			}
		}
		span := map[string]uint64{
			"pure window": 8, "pure window of a user": 8, "pure lifetime": 16, "pure lifetime of a user": 16,
			"gaussian window": 40, "gaussian window of a user": 40, "gaussian lifetime": 16, "gaussian whole lifetime": 16,
			"gaussian lifetime of a user": 16, "gaussian decay": 20, "gaussian decay of a user": 20,
			"gaussian decay, no curve": 20,
		}[what]
		for spans := uint64(1); spans < 7; spans++ {
			want := slowAt(g, spans*max(1, span))
			if got := g.AtSpans(spans); got != want {
				t.Errorf("%s: AtSpans(%d) = %v, want %v", what, spans, got, want)
			}
			if got := g.AtAge(Age{Spans: spans, Steps: 1, Name: "by spans"}); got != want {
				t.Errorf("%s: AtAge of %d spans = %v, want %v", what, spans, got, want)
			}
		}
		if got, want := g.AtAge(Age{Steps: 7, Name: "by steps"}), slowAt(g, 7); got != want {
			t.Errorf("%s: AtAge of 7 steps = %v, want %v", what, got, want)
		}
		for _, a := range g.Words().Ages {
			if got, want := g.AtAge(a), slowAt(g, a.Steps); got != want {
				t.Errorf("%s: at %s: %v, want %v", what, a.Name, got, want)
			}
		}
		if last := g.AtAge(Age{Steps: Endless}); g.Scope.ForLife() && last.Epsilon > g.Epsilon {
			t.Errorf("%s: ε is %g for life, claimed %g", what, last.Epsilon, g.Epsilon)
		}
	}
}

// TestSeveralWindowsOfGaussianNoiseNeedACurve checks that without its curve a Gaussian guarantee of several windows
// claims no finite ε, because no multiple of ε bounds its loss at the same δ.
func TestSeveralWindowsOfGaussianNoiseNeedACurve(t *testing.T) {
	g := referenceCases()["gaussian window"]
	g.Curve = nil
	if g.At(40).Epsilon != g.Epsilon || g.AtSpans(1).Epsilon != g.Epsilon {
		t.Errorf("one window: %v and %v", g.At(40), g.AtSpans(1))
	}
	for what, loss := range map[string]func(){"At": func() { g.At(41) }, "AtSpans": func() { g.AtSpans(2) }} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s of two windows without a curve: no panic", what)
				}
			}()
			loss()
		}()
	}
}
