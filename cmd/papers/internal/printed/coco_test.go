package printed

import (
	"math"
	"strings"
	"testing"

	"oriel/mechanisms"
	"oriel/mechanisms/mechtest"
	"oriel/mechanisms/protection"
	"oriel/operators/coco"
	"oriel/operators/convex"
	"oriel/operators/loss"
)

// sample returns the update llo on the simplex of 8 vertices (ρ = 2, a = 1/8, D = √2, max|x| = 1), with L = 1, µ = ½, β
// = 0.01.
func sample(t *testing.T) coco.Config {
	t.Helper()
	set, err := convex.Parse(convex.Spec{Name: "simplex", Dimension: 8, Radius: 1})
	if err != nil {
		t.Fatal(err)
	}
	return coco.Config{
		Update: coco.LLO, Constants: coco.Paper, Loss: loss.Linear{}, Set: set, Clip: 1, StrongConvexity: 0.5,
		Failure: 0.01, EmitEvery: 1, Printed: windowPaper{},
	}
}

// TestNoiseTerm compares C_W with values to 25 digits of coco/SPEC.md §6, reading A: W = 128, ε = 2, δ = 1e-6.
func TestNoiseTerm(t *testing.T) {
	c, m := sample(t), mechtest.Config(8)
	m.Scope, m.Budget.Epsilon, m.Budget.Delta = protection.Window{Steps: 128}, 2, 1e-6
	for name, want := range map[string]float64{
		"tree-gamma": 123.8007416970460964489894, "tree-gamma-paper": 123.8007416970460964489894,
		"tree-gaussian": 194.1296393816765068316703, "tree-gaussian-paper": 194.1296393816765068316703,
	} {
		m.Name = name
		if got, err := (windowPaper{}).NoiseTerm(c, m); err != nil || math.Abs(got-want) > 1e-12*want {
			t.Errorf("%s: C_W = %v, %v, want %v", name, got, err, want)
		}
	}
	m.Name = "tree-laplace"
	if _, err := (windowPaper{}).NoiseTerm(c, m); err == nil || !strings.Contains(err.Error(), "tree-laplace") {
		t.Errorf("error %v: the paper has no constants for Laplace", err)
	}
}

// TestReach compares C_1 with a computation by hand: ρ = 2, G = 3, B = 5, C_W = 7.
func TestReach(t *testing.T) {
	if got := (windowPaper{}).Reach(2, 3, 5, 7); got != 26*4*3*12 {
		t.Errorf("C_1 = %v", got)
	}
}

// TestScale compares scales with the reference values of [WDP], except for Δ' = G: W = 128, so h = 8, ε = 1, δ = 1e-6.
// Gamma noise of this scale proves ε·2L/G, which is above ε if µ is small.
func TestScale(t *testing.T) {
	c, m := sample(t), mechtest.Config(8)
	c.StrongConvexity = 0.01
	m.Scope, m.Budget.Epsilon, m.Budget.Delta = protection.Window{Steps: 128}, 1, 1e-6
	g := 1 + 0.01 + 0.01*math.Sqrt2
	for name, want := range map[string]float64{"tree-gamma-paper": 8 * g, "tree-gaussian-paper": 328.2935 * g} {
		m.Name = name
		m.Printed = windowPaper{}.Scale(c, m)
		if got, _ := m.Printed(8).Float64(); math.Abs(got-want) > 1e-6*want {
			t.Errorf("%s: scale %v, want %v", name, got, want)
		}
		guarantee, err := mechtest.Plan(t, m).Guarantee(m)
		if facts, _ := mechanisms.FactsOf(name); err != nil || facts.Pure() && math.Abs(guarantee.Epsilon-2/g) > 1e-6 {
			t.Errorf("%s: ε = %v, %v, want %v", name, guarantee.Epsilon, err, 2/g)
		}
	}
}
