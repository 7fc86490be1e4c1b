package coco

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"

	"oriel/operators"
	"oriel/operators/convex"
	"oriel/schemas/event"
)

// TestFirstStepsByHand checks steps computed by hand. In the ball of radius 1, with µ = ½, λ_0 = 0 and no noise, x_2 =
// Π(−v_1/½) and x_3 = Π(−(v_1+v_2)/1).
func TestFirstStepsByHand(t *testing.T) {
	c := sample(t, "l2-ball", 2)
	m := quiet(t, c, mechanism(c, 4, 1))
	counted := operators.ByCount(m)
	if owed := m.Open(nil); len(owed) != 0 {
		t.Errorf("%d decisions owed at opening", len(owed))
	}
	for i, step := range []struct{ v, want []float64 }{
		{[]float64{0.25, 0}, []float64{-0.5, 0}},
		{[]float64{-0.25, 0.5}, []float64{0, -0.5}},
		{[]float64{0, 1}, []float64{0, -1}},
		{[]float64{0, 30}, []float64{0, -1}}, // clipped to norm 1, so that Σ = (0, 2.5)
		{[]float64{0, -1}, []float64{0, -0.6}},
	} {
		got := counted.Add(nil, record(i, linear(step.v)))
		if len(got) != 1 || got[0].Index != uint64(i+1) || got[0].Step != uint64(i+1) {
			t.Fatalf("step %d: decisions %v", i+1, got)
		}
		if floats.Distance(got[0].Point, step.want, 2) > 1e-6 { // the lattice rounds by 2^-25
			t.Errorf("step %d: decision %v, want %v", i+1, got[0].Point, step.want)
		}
	}
}

// TestOrderIsWeightThenTangentThenClip checks the order on the simplex of 2 coordinates: v = (3, −1)·½ has the
// projection (1, −1) to the tangent space, which is then clipped to norm 1.
func TestOrderIsWeightThenTangentThenClip(t *testing.T) {
	c := sample(t, "simplex", 2)
	m := quiet(t, c, mechanism(c, 4, 1))
	counted := operators.ByCount(m)
	counted.Add(nil, record(0, event.Event{Vector: event.Vector{Values: []float64{3, -1}}, Weight: 0.5}))
	want := []float64{1 / math.Sqrt2, -1 / math.Sqrt2}
	if got := m.Stream.Sum(0); floats.Distance(got, want, 2) > 1e-6 {
		t.Errorf("the stream sums %v, want %v", got, want)
	}
	counted.Add(nil, record(1, linear([]float64{5, 5})))
	if got := m.Stream.Sum(0); floats.Distance(got, want, 2) > 1e-6 {
		t.Errorf("a cost that is constant on the set changes the sum to %v", got)
	}
}

// TestBatchTakesAllGradientsAtOneDecision checks that the gradient of a step's second event does not depend on the
// first event.
func TestBatchTakesAllGradientsAtOneDecision(t *testing.T) {
	c := sample(t, "box", 1)
	c.Loss, c.StrongConvexity = mustLoss(t, "squared"), 1
	m := quiet(t, c, mechanism(c, 4, 2))
	counted := operators.ByCount(m)
	e := event.Event{Vector: event.Vector{Values: []float64{1}}, Label: 0.5, Weight: 1}
	// x_1 = 0 gives two gradients of −0.5, and µB = 2, so x_2 = 0.5. Then both gradients are 0, so x_3 = 1/4. Then they
	// are −0.25 and null, so x_4 = 1.25/6.
	for i, want := range []float64{0, 0.5, 0.5, 0.25, 0.25, 1.25 / 6} {
		r := record(i, e)
		r.Null = i == 5
		counted.Add(nil, r)
		if got := m.update.point()[0]; math.Abs(got-want) > 1e-6 {
			t.Errorf("after event %d the decision is %v, want %v", i+1, got, want)
		}
	}
}

func TestEmitEveryThinsTheSameDecisions(t *testing.T) {
	c := sample(t, "l1-ball", 3)
	m := mechanism(c, 8, 1)
	all := open(t, c, m, 4)
	countedAll := operators.ByCount(all)
	c.EmitEvery = 3
	thin := open(t, c, m, 4)
	countedThin := operators.ByCount(thin)
	for i := range 30 {
		r := record(i, linear([]float64{1, 0.1 * float64(i%5), -1}))
		want, got := countedAll.Add(nil, r), countedThin.Add(nil, r)
		if (i+1)%3 != 0 {
			if len(got) != 0 {
				t.Errorf("step %d emitted", i+1)
			}
			continue
		}
		if len(got) != 1 || got[0].Index != want[0].Index || !slices.Equal(got[0].Point, want[0].Point) {
			t.Errorf("step %d: %v, want %v", i+1, got, want)
		}
	}
}

func TestNewRefusesAStreamThatDoesNotFit(t *testing.T) {
	c := sample(t, "box", 3)
	stream := open(t, c, mechanism(c, 4, 1), 1).Stream
	c.Set = mustSet(t, "box", 4, 1)
	if _, err := New(c, Params{}, stream); err == nil || !strings.Contains(err.Error(), "dimension 4") {
		t.Errorf("error %v does not name the dimension", err)
	}
	if _, err := New(c, Params{Past: Inherited{Weight: -1}}, stream); err == nil {
		t.Error("params with a negative weight accepted")
	}
	c = sample(t, "box", 3)
	c.Update = LLO
	if _, err := New(c, Params{}, stream); err == nil || !strings.Contains(err.Error(), "error bound 0") {
		t.Errorf("error %v does not say that llo needs the error bound, which the stream was not asked for", err)
	}
}

// TestRestoreRefusesAForeignPoint changes one float of a valid state at a time.
func TestRestoreRefusesAForeignPoint(t *testing.T) {
	for _, update := range []string{Projection, LLO, OGD} {
		for _, set := range []string{"l1-ball", "simplex", "box"} {
			c := sample(t, set, 3)
			c.Update, c.OwnConvexity = update, true
			m := quiet(t, c, mechanism(c, 4, 1))
			counted := operators.ByCount(m)
			counted.Add(nil, record(0, linear([]float64{1, 0, 0})))
			good := m.AppendState(nil)
			floats := m.update.StateLen()/8 + len(m.objective.decisions)
			for i := range floats {
				bad := slices.Clone(good)
				copy(bad[1+8*i:], []byte{1, 0, 0, 0, 0, 0, 0xf0, 0x7f}) // these bytes are a NaN
				if err := m.Restore(bad); err == nil {
					t.Errorf("%s on %s: float %d NaN accepted", update, set, i)
				}
				if !slices.Equal(m.AppendState(nil), good) {
					t.Fatalf("%s on %s: a refused state changes the machine", update, set)
				}
			}
		}
	}
}

// TestAddAllocatesNothingOfItsOwn compares the allocations of the operator with the allocations of its stream for the
// same gradients.
func TestAddAllocatesNothingOfItsOwn(t *testing.T) {
	for _, update := range []string{Projection, LLO, OGD} {
		for _, set := range []string{"l2-ball", "l1-ball", "simplex", "box"} {
			if update == LLO && set == "l2-ball" {
				continue
			}
			c := sample(t, set, 32)
			c.Update, c.Loss = update, mustLoss(t, "logistic")
			m := mechanism(c, 1024, 1)
			machine, plain := open(t, c, m, 1), open(t, c, m, 1).Stream
			counted := operators.ByCount(machine)
			e := event.Event{
				Vector: event.Vector{Values: direction(rand.New(rand.NewPCG(1, 1)), 32, 1)}, Label: 1, Weight: 1,
			}
			dst, i := make([]operators.Decision, 0, 1), 0
			with := testing.AllocsPerRun(1024, func() {
				dst = counted.Add(dst[:0], record(i, e))
				i++
			})
			i = 0
			without := testing.AllocsPerRun(1024, func() {
				plain.Add(record(i, e).Identity, e.Vector.Values)
				i++
			})
			if with > without {
				t.Errorf("%s on %s: %v allocations an event, the stream alone %v", update, set, with, without)
			}
		}
	}
}

// everyDirection returns the space of all directions, to which a projection changes nothing.
func everyDirection(t testing.TB, n int) convex.Tangent {
	t.Helper()
	tangent, err := convex.NewTangent(sample(t, "box", n).Set)
	if err != nil {
		t.Fatal(err)
	}
	return tangent
}

// TestProjectingCostsMovesNoDecision checks that projecting costs to the tangent space, before a clip that cuts
// nothing, changes decisions only by rounding. It covers searched and proved steps, on sets whose tangent space
// does not have all directions.
func TestProjectingCostsMovesNoDecision(t *testing.T) {
	for _, set := range []string{"flow", "chain", "segment"} {
		for _, constants := range []string{Search, Proved} {
			c := sample(t, set, 6)
			c.Update, c.Constants, c.Clip = LLO, constants, 100
			if constants == Proved && set != "flow" {
				continue // the set has no ρ
			}
			m := mechanism(c, 64, 1)
			whole, without := quiet(t, c, m), quiet(t, c, m)
			without.tangent = everyDirection(t, 6)
			if whole.tangent.Dimension() == 6 {
				t.Fatalf("%s: nothing is projected", set)
			}
			countedWhole, countedWithout := operators.ByCount(whole), operators.ByCount(without)
			rng := rand.New(rand.NewPCG(4, 4))
			for i := range 200 {
				r := record(i, linear(direction(rng, 6, 20)))
				x, y := countedWhole.Add(nil, r)[0].Point, countedWithout.Add(nil, r)[0].Point
				// After the projection the lattice rounds differently, by 2⁻²⁵ of the clip in each coordinate.
				if off := floats.Distance(x, y, 2); off > 1e-4 {
					t.Fatalf("%s, %s, step %d: %v, without the projection %v", set, constants, i+1, x, y)
				}
			}
		}
	}
}
