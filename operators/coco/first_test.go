package coco

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"oriel/mechanisms/mechtest"
	"oriel/mechanisms/protection"
	"oriel/operators/convex"
	"oriel/operators/convex/catalogue"
)

// TestFirstIsAVertex checks that x_1 of First = Vertex is a vertex of each polytope: no point of the set is farther in
// its direction. The reference model and the score must start there, too.
func TestFirstIsAVertex(t *testing.T) {
	for _, set := range catalogue.Names() {
		if set == "l2-ball" {
			continue
		}
		c := sample(t, set, 4)
		c.Update, c.Constants, c.First = LLO, Search, Vertex
		if err := c.Validate(); err != nil {
			t.Errorf("%s: %v", set, err)
			continue
		}
		x := quiet(t, c, mechanism(c, 4, 1)).update.point()
		away, furthest := make([]float64, 4), make([]float64, 4)
		for i, v := range x {
			away[i] = -v
		}
		convex.NewLinearOracle(c.Set).Minimise(furthest, away)
		for i, v := range furthest {
			if math.Abs(v-x[i]) > 1e-12 {
				t.Errorf("%s: x_1 is %v, and %v is further there", set, x, furthest)
				break
			}
		}
		params, err := Params{}.AppendBinary(nil)
		if err != nil {
			t.Fatal(err)
		}
		made, err := operator{Config: c, terms: mechtest.Config(1).Terms}.ReferenceModel(params)
		if err != nil {
			t.Fatal(err)
		}
		made.Begin()
		if first := made.(*reference).decision; !slices.Equal(first, x) {
			t.Errorf("%s: the reference model begins at %v, the machine at %v", set, first, x)
		}
		if first := (operator{Config: c}).Score().Start; !slices.Equal(first, x) {
			t.Errorf("%s: a score begins at %v, the machine at %v", set, first, x)
		}
	}
}

// TestFewVerticesAfterAVertex checks that x has few edges after t searched steps from a vertex: each step adds at most
// one path, so at most t + 1 paths of 14 edges. From a spread start, which the start regulariser keeps in the mix, x
// uses all edges.
func TestFewVerticesAfterAVertex(t *testing.T) {
	for _, first := range []string{Spread, Vertex} {
		c := sample(t, "box", 1)
		c.Update, c.Constants, c.Set, c.First = LLO, Search, square(t, 8), first
		u, err := newLocal(c, &objective{convexity: 0.01, start: 100, scope: protection.Window{Steps: 8}}, 1, 0)
		if err != nil {
			t.Fatal(err)
		}
		rng, sum := rand.New(rand.NewPCG(1, 2)), make([]float64, 112)
		for step := uint64(1); step <= 5; step++ {
			for i := range sum {
				sum[i] += rng.NormFloat64()
			}
			u.step(step, sum)
			some := 0
			for _, x := range u.point() {
				if x != 0 {
					some++
				}
			}
			if most := min(112, 14*int(step+1)); some > most && first == Vertex || some < 112 && first == Spread {
				t.Errorf("%s: after %d steps %d edges have some, of %d", first, step, some, most)
			}
		}
	}
}

// TestOnlyASearchedStepBeginsAtAVertex checks that First = Vertex is refused without constants search, because the
// bound of proved constants needs the point of least norm as x_1.
func TestOnlyASearchedStepBeginsAtAVertex(t *testing.T) {
	for _, update := range []string{Projection, LLO, OGD} {
		for _, constants := range []string{Proved, Search} {
			c := sample(t, "simplex", 4)
			c.Update, c.Constants, c.First = update, constants, Vertex
			if err := c.Validate(); (err == nil) != (update == LLO && constants == Search) {
				t.Errorf("%s, %s: %v", update, constants, err)
			}
		}
	}
	c := sample(t, "simplex", 4)
	c.First = "corner"
	if c.Validate() == nil {
		t.Error("another first is taken")
	}
}

// TestAVertexLearnsAsWell compares the last quarter of 2000 rounds on 112 edges: the costs from a vertex must be about
// as low as from a spread start.
func TestAVertexLearnsAsWell(t *testing.T) {
	c := sample(t, "box", 1)
	c.Update, c.Constants, c.Set, c.StrongConvexity, c.StartRegularizer = LLO, Search, square(t, 8), 0.01, 100
	spread := followed(t, c, 2000)
	c.First = Vertex
	vertex := followed(t, c, 2000)
	t.Logf("above the best path: spread %.4f, vertex %.4f", spread, vertex)
	if !(vertex < 1.05*spread+0.01) {
		t.Errorf("from a vertex %.4f above the best path, from a spread start %.4f", vertex, spread)
	}
}
