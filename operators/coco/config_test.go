package coco

import (
	"math"
	"slices"
	"strings"
	"testing"

	"oriel/mechanisms/protection"
	"oriel/operators/convex/catalogue"
)

func TestValidateReportsEveryProblemAtOnce(t *testing.T) {
	err := Config{Update: "sgd", Clip: -1, StrongConvexity: math.NaN(), StartRegularizer: -2}.Validate()
	if err == nil {
		t.Fatal("accepted")
	}
	for _, part := range []string{
		"update \"sgd\"", "loss", "set", "clip -1", "strong convexity NaN", "start regularizer -2", "emit every 0",
	} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("error %q does not name %q", err, part)
		}
	}
	c := sample(t, "l2-ball", 3)
	c.Update, c.Constants, c.Failure, c.Rounds = LLO, "guess", 1, 0
	err = c.Validate()
	if err == nil {
		t.Fatal("llo on the l2-ball accepted")
	}
	for _, part := range []string{"l2-ball", "constants \"guess\"", "failure 1"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("error %q does not name %q", err, part)
		}
	}
	c = sample(t, "box", 3)
	c.Update, c.Rounds = LLO, 0
	if err := c.Validate(); err == nil || !strings.Contains(err.Error(), "rounds 0") {
		t.Errorf("error %v does not name the rounds", err)
	}
}

// TestDerivedConstants checks the constants of SPEC.md §5.1, §6 and §11 against values computed by hand on the simplex
// of 8 coordinates, where ρ = 2, D = √2 and max|x| = 1.
func TestDerivedConstants(t *testing.T) {
	near := func(name string, got, want float64) {
		t.Helper()
		if math.Abs(got-want) > 1e-14*math.Abs(want) {
			t.Errorf("%s = %v, want %v", name, got, want)
		}
	}
	c := sample(t, "simplex", 8) // L = 1 and µ = ½
	c.Update = LLO
	g := 1.5 + math.Sqrt2/2
	near("G", c.GradientBound(), g)
	own := c
	own.OwnConvexity = true
	near("G under own convexity", own.GradientBound(), 1+math.Sqrt2/2)
	near("β/T", c.StepFailure(), 1e-6)
	c.Update = Projection
	near("β/T of projection", c.StepFailure(), 0)
	c.Update = LLO

	const batch, lambda, bound = 3, 7, 11
	o := &objective{convexity: 0.5 * batch, start: lambda, scope: protection.Window{Steps: 8}}
	k := newConstants(c, o, 2, batch, bound)
	near("α", k.alpha, 1.0/8)
	near("µB·C_0", k.anchor, 1.5*100)
	near("C_1", k.reach, 10*(4*3*g+2*bound))
	near("b_5", k.curvature(5), 1.5*105+lambda)
	near("r_1", k.radius(1), 2*3*g/(1.5*101+lambda))
	near("r_5", k.radius(5), math.Sqrt2*k.reach/(1.5*104+lambda)+2*3*g/(1.5*105+lambda))
}

// TestEverySetOfTheProductIsUsable checks which pairs of set and update the settings allow.
func TestEverySetOfTheProductIsUsable(t *testing.T) {
	for _, set := range catalogue.Names() {
		for _, update := range []string{Projection, LLO, OGD} {
			c := sample(t, set, 4)
			c.Update, c.Constants = update, Search
			err := c.Validate()
			refused := map[bool][]string{true: {"l2-ball"}, false: byOracle}[update == LLO]
			if (err != nil) != slices.Contains(refused, set) {
				t.Errorf("%s on %s: %v", update, set, err)
			}
		}
	}
}

// TestVerticesAreSearched checks that a set without a known ρ is accepted only with constants search, because proved
// constants need ρ.
func TestVerticesAreSearched(t *testing.T) {
	c := sample(t, "vertices", 3)
	c.Update = LLO
	for _, constants := range []string{Proved, Search} {
		c.Constants = constants
		if err := c.Validate(); (err == nil) != (constants == Search) {
			t.Errorf("%s: %v", constants, err)
		}
	}
}
