package papers

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"oriel/mechanisms/mechtest/tiertest"
)

// TestRegretOfArms checks that private arms have more regret than arms without noise. Their regret must be below the
// measured losses of the papers' algorithms at the same T, 10⁵. UCB with doubling episodes loses 1 668 at ε = 1 and 3
// 911 at 0.1, EXP3-IX 2 299 at ε = 1. The short form has half as many plays. Its limits are √½ of those losses, which
// is stricter, because these regrets grow like √T at most.
func TestRegretOfArms(t *testing.T) {
	const measured = 100_000
	steps := tiertest.Runs[uint64](measured/2, measured)
	for _, row := range []struct {
		name, plain string
		column      int
		most        float64
	}{
		{"ucb", "ucb, no noise", 0, 1668},
		{"ucb", "", 1, 3911},
		{"exp3", "exp3, no noise", 0, 2299},
		{"exp3-uniform", "exp3-uniform, no noise", 0, 4900},
	} {
		most := row.most * math.Sqrt(float64(steps)/measured)
		got := ended(t, tenArms, row.name, row.column, steps)
		plain := 0.0
		if row.plain != "" {
			plain = ended(t, tenArms, row.plain, row.column, steps)
		}
		t.Logf("%s, %s: %.0f, %.0f without noise", row.name, tenArms.Columns[row.column].Name, got, plain)
		if !(got < most) || !(got > 1.2*plain) {
			t.Errorf("%s, %s: %.0f, want 1.2 times the %.0f without noise and more, below %.0f", row.name,
				tenArms.Columns[row.column].Name, got, plain, most)
		}
	}
}

// TestRegretOfPrivateBandit compares kinds of noise over the rounds of PrivateBandit. blt must increase regret by at
// most a third, and exact noise of trees by several times as much. The noise that the paper prints must cost two and a
// half times as much as exact noise of the same distribution and guarantee. The short form plays only the first of two
// seeds.
func TestRegretOfPrivateBandit(t *testing.T) {
	const steps = 100_000
	seeds := tiertest.Runs(1, 2)
	for column := range privateBandit.Columns {
		at := func(name string) float64 { return meanOf(t, privateBandit, name, column, steps, seeds) }
		plain, blt, gauss, laplace := at("no noise"), at("blt"), at("Gauss"), at("Laplace")
		t.Logf("%s: %.0f without noise, blt %.0f, Gauss %.0f, Laplace %.0f", privateBandit.Columns[column].Name, plain, blt,
			gauss, laplace)
		if !(blt > plain) || !(blt < 1.35*plain) || !(gauss > 1.3*blt) || !(laplace > gauss) || !(laplace < 8*plain) {
			t.Errorf("%s: that is not the order", privateBandit.Columns[column].Name)
		}
		for name, exact := range map[string]float64{"Gauss printed": gauss, "Laplace printed": laplace} {
			if got := at(name); !(got > 2.5*exact) {
				t.Errorf("%s, %s: %.0f, exact %.0f", privateBandit.Columns[column].Name, name, got, exact)
			}
		}
	}
}

// dear is a world in which every action has the same cost. It records the actions.
type dear struct {
	loss  float64
	plays [][]float64
}

func (w *dear) cost(play []float64) float64 {
	w.plays = append(w.plays, slices.Clone(play))
	return w.loss
}

func (w *dear) regret() float64 { return float64(len(w.plays)) }

// TestEveryStepIsAnAction checks that each step of a cell is one action, that actions come in order, and that the
// operator learns from their costs.
func TestEveryStepIsAnAction(t *testing.T) {
	list := banditPlayers[0].settings(0, 1000)
	low, high := &dear{loss: 0}, &dear{loss: 1}
	for _, w := range []*dear{low, high} {
		curve, err := answer(t.Context(), list, [32]byte{1}, w, 1000)
		if err != nil {
			t.Fatal(err)
		}
		for i, mark := range Marks(1000) {
			if want := (Point{mark, float64(mark)}); curve[i] != want {
				t.Errorf("point %v, want %v", curve[i], want)
			}
		}
	}
	first := 31 // the first round, of √1000 actions, is drawn before the operator has learned anything
	same := func(i int) bool { return slices.Equal(low.plays[i], high.plays[i]) }
	for i := range first {
		if !same(i) {
			t.Fatalf("play %d of the first round depends on feedback", i)
		}
	}
	if same(first) || same(999) {
		t.Error("feedback is not learned from")
	}
	done, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := answer(done, list, [32]byte{1}, low, 1000); err == nil {
		t.Error("a run that is ended goes on")
	}
}

// TestRegretOfWorlds checks that the regret of a world is the cost of the actions minus the cost of the best fixed
// action.
func TestRegretOfWorlds(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	w, again := newNear(3, rand.New(rand.NewPCG(7, 7))), newNear(3, rand.New(rand.NewPCG(7, 7)))
	if math.Abs(floats.Norm(w.centre, 2)-0.3) > 1e-12 {
		t.Errorf("centre %v", w.centre)
	}
	paid, best := 0.0, slices.Clone(w.centre)
	for range 5000 {
		play := []float64{rng.Float64() / 4, rng.Float64() / 4, rng.Float64() / 4}
		paid += w.cost(play)
		again.cost(best)
	}
	floats.ScaleTo(best, 1.0/5000, w.sum)
	if again.regret() > 1 || again.regret() < 0 {
		t.Errorf("regret %g of the middle", again.regret())
	}
	again = newNear(3, rand.New(rand.NewPCG(7, 7)))
	for range 5000 {
		again.cost(best)
	}
	if want := paid - again.paid; math.Abs(w.regret()-want) > 1e-6 || math.Abs(again.regret()) > 1e-6 {
		t.Errorf("regret %g, want %g; of the best play %g", w.regret(), want, again.regret())
	}
	arms := &bernoulli{rng: rng, best: 3}
	costs := map[float64]float64{}
	for range 20_000 {
		costs[3] += arms.cost([]float64{3}) / 20_000
	}
	if arms.regret() != 0 {
		t.Errorf("regret %g of the best arm", arms.regret())
	}
	for range 20_000 {
		costs[4] += arms.cost([]float64{4}) / 20_000
	}
	// The tolerance is 6.11 standard errors of a mean of 20 000 costs.
	if most := 6.11 * 0.5 / math.Sqrt(20_000); math.Abs(costs[3]-0.4) > most || math.Abs(costs[4]-0.5) > most {
		t.Errorf("costs %v", costs)
	}
	if math.Abs(arms.regret()-2000) > 1e-9 {
		t.Errorf("regret %g of 20 000 plays of another arm", arms.regret())
	}
}
