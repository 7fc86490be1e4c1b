package protection

import (
	"errors"
	"math"
	"testing"

	"oriel/mechanisms/dp"
)

// straight is a curve whose µ grows with the root of age; of all events it is twice that.
type straight struct{ mu, window float64 }

func (s straight) Mu(age uint64) float64 { return s.mu * math.Sqrt(float64(age)/s.window) }

func (s straight) MuAll(age uint64) float64 { return 2 * s.Mu(age) }

func drawn(age string, got, want float64, t *testing.T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: ε %v, want %v", age, got, want)
	}
}

// At each age, of a group and of all events of a user, ε is that of the composition of the sums' µ and of the draws.
func TestDrawsCountInEachLoss(t *testing.T) {
	const delta, window = 1e-6, 64
	composed := func(mu, pure, rho float64) float64 {
		var total dp.Total
		total.AddMu(mu)
		total.AddPure(pure)
		total.AddRho(rho)
		return total.Epsilon(delta)
	}
	for _, d := range []dp.Draws{{Pure: 0.25}, {Rho: 0.125}, {Pure: 0.5, Rho: 0.25}} {
		sums := Guarantee{
			Terms:     Terms{Window{window}, User{Exchange: dp.Replace, Separation: 2}},
			Mechanism: "blt", Batch: 1, Epsilon: dp.GaussianEpsilon(1, delta), Delta: delta, Mu: 1, Curve: straight{1, window},
		}
		g := sums.WithDraws(d)
		drawn("a window", g.Epsilon, composed(1, d.Pure, d.Rho), t)
		drawn("age W", g.At(window).Epsilon, g.Epsilon, t)
		drawn("age 0", g.At(0).Epsilon, 0, t)
		drawn("age 1", g.At(1).Epsilon, composed(0.125, d.Pure, d.Rho), t)
		drawn("4 windows", g.AtSpans(4).Epsilon, composed(2, d.Pure, d.Rho), t)
		drawn("all of 4 windows", g.AtAll(4*window).Epsilon, composed(4, 4*d.Pure, 16*d.Rho), t)
		drawn("all of 4 windows and a step", g.AtAll(4*window+1).Epsilon,
			composed(straight{1, window}.MuAll(4*window+1), 5*d.Pure, 25*d.Rho), t)
		drawn("a group of 3", g.Group(3).Epsilon, composed(3, 3*d.Pure, 9*d.Rho), t)
		if g.Mu != sums.Mu || g.Curve != sums.Curve || g.Draws != d {
			t.Errorf("%+v", g)
		}
		if _, err := AppendGuarantee(nil, g); !errors.Is(err, ErrGuarantee) {
			t.Errorf("a stored form that lacks draws: %v", err)
		}
		life := sums
		life.Terms = Terms{Decay{window}, User{Exchange: dp.Replace, Separation: 2, Steps: window}}
		life.Curve = straight{1, 2 * window}
		life = life.WithDraws(d)
		drawn("a life", life.At(100*window).Epsilon, life.Epsilon, t)
		part := life.Curve.Mu(window)
		drawn("of a life, one memory", life.At(window).Epsilon, composed(part, d.Pure, d.Rho), t)
	}
}

// Beside pure sums ε's add up, and bound each age; a ρ leaves nothing finite at δ = 0.
func TestDrawsBesidePureSums(t *testing.T) {
	sums := Guarantee{
		Terms: Terms{Window{8}, Event{dp.ZeroOut}}, Mechanism: "tree-gamma", Batch: 1, Epsilon: 1,
	}
	g := sums.WithDraws(dp.Draws{Pure: 0.5})
	drawn("a window", g.Epsilon, 1.5, t)
	drawn("a group of 2", g.Group(2).Epsilon, 3, t)
	if at := g.At(24).Epsilon; at < 3.5 || g.Delta != 0 {
		t.Errorf("three windows lose 3 and draws 0.5 at least: %v", at)
	}
	drawn("with a ρ", sums.WithDraws(dp.Draws{Rho: 0.1}).Epsilon, math.Inf(1), t)
	if same := sums.WithDraws(dp.Draws{}); same != sums {
		t.Errorf("no draws: %+v", same)
	}
}

func TestDrawsAreAddedOnce(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("draws were added twice")
		}
	}()
	Guarantee{Epsilon: 1}.WithDraws(dp.Draws{Pure: 1}).WithDraws(dp.Draws{Pure: 1})
}

// Draws with no sums beside them lose the same at every age, and of several units kε and k²ρ.
func TestDrawsAlone(t *testing.T) {
	const delta = 1e-6
	draws := dp.Draws{Pure: 0.25, Rho: 0.125}
	g := Guarantee{
		Terms: Terms{Lifetime{9, 9}, event}, Mechanism: "draws", Batch: 1, Delta: delta, Draws: draws,
		Epsilon: draws.Epsilon(delta),
	}
	claim := dp.Budget{Epsilon: g.Epsilon, Delta: delta}
	for _, age := range []uint64{1, 5, 9, 10, math.MaxUint64} {
		if got := g.At(age); got != claim {
			t.Errorf("at %d: %v, want %v", age, got, claim)
		}
	}
	for units, want := range map[uint64]dp.Draws{1: draws, 2: {Pure: 0.5, Rho: 0.5}, 4: {Pure: 1, Rho: 2}} {
		if got := g.Group(units); got != (dp.Budget{Epsilon: want.Epsilon(delta), Delta: delta}) {
			t.Errorf("a group of %d: %v", units, got)
		}
	}
	if got := g.Group(0); got != (dp.Budget{}) {
		t.Errorf("a group of none: %v", got)
	}
}
